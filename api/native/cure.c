/* cure.c - see cure.h. */
#include "api/native/cure.h"
#include "base/time.h"

void tarn_cure_judge(struct tarn_cure *cure, struct tarn_lake *lake, int64_t table_id)
{
    TARN_ERR(fault);

    cure->scan.table_id = table_id;
    cure->scan.sweep = cure->scan.confirm = true;
    cure->is_judged = tarn_use_run(lake, &tarn_scan, &cure->scan, &fault) == TARN_OK;
}

void tarn_cure_write(const struct tarn_cure *cure, struct tarn_jsonw *w)
{
    const struct tarn_scan_use *scan = &cure->scan;

    if (!cure->is_judged) {
        tarn_jsonw_kstr(w, "status", NULL);
        return;
    }
    tarn_jsonw_key(w, "status");
    tarn_status_write(w->out, scan->table, &scan->scan, &scan->findings, scan->defaults, tarn_now_ms());
    w->comma = true;
}
