/* reports.c - POST .../tables/{table}/metrics: engines tell of a scan or a commit. */
#include "api/iceberg/iceberg.h"
#include "lake/iceberg_report.h"

static tarn_code report_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_report_use *use = state;

    use->report = req->json;
    return tarn_iceberg_path_ident(req, TARN_TABLE_NOT_FOUND, &use->ident, err);
}

const struct tarn_flow tarn_iceberg_metrics_report = { &tarn_iceberg_report, report_parse, tarn_flow_nothing };
