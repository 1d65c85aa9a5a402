/* server.c - the server in numbers: the process, the store, the publisher and the scans. */
#include "api/metrics/metrics.h"
#include "api/traffic.h"
#include "base/time.h"
#include "base/version.h"
#include <stdio.h>
#include <string.h>

static const char k_revision[] =
#include "embed/revision.inc"
    ;

void tarn_metric_read_server(struct tarn_scrape *scrape)
{
    struct tarn_server_numbers *server = &scrape->server;
    const struct tarn_app *app = scrape->app;

    memset(server, 0xff, sizeof *server); /* -1 everywhere */
    tarn_process_read(&server->process);
    tarn_store_meters_read(app->lake->store, &server->store);
    if (app->lake->publisher)
        tarn_publisher_meters_read(app->lake->publisher, &server->publisher);
    if (app->runner)
        tarn_runner_meters_read(app->runner, &server->scans_running, &server->scans_ended);
    if (app->traffic) {
        server->started_ms = tarn_traffic_since(app->traffic);
        server->connections = tarn_traffic_connections(app->traffic);
    }
    server->tables = (int64_t)scrape->tables.count;
    server->gathering_us = tarn_monotonic_us() - scrape->began_us;
}

void tarn_metric_member(const struct tarn_scrape *scrape, const struct tarn_family *family)
{
    int64_t value;

    memcpy(&value, (const char *)&scrape->server + family->member, sizeof value);
    if (value >= 0)
        tarn_expo_sample(&scrape->expo, family->name, "", "", 0, "", family->unit, value);
}

void tarn_metric_build(const struct tarn_scrape *scrape, const struct tarn_family *family)
{
    char labels[128];
    int len = snprintf(labels, sizeof labels, "version=\"%s\",revision=\"%s\"", TARN_VERSION, k_revision);

    tarn_expo_sample(&scrape->expo, family->name, "", labels, (size_t)len, "", family->unit, 1);
}

void tarn_metric_groups(const struct tarn_scrape *scrape, const struct tarn_family *family)
{
    const struct tarn_store_meters *store = &scrape->server.store;
    int64_t groups = 0;
    char label[32];

    for (size_t i = 0; i < TARN_GROUP_SIZES; i++) {
        groups += store->groups[i];
        int len = snprintf(label, sizeof label, "le=\"%u.0\"", 1u << i);
        tarn_expo_sample(&scrape->expo, family->name, "_bucket", label, (size_t)len, "", TARN_M_PLAIN,
                         groups);
    }
    tarn_expo_sample(&scrape->expo, family->name, "_bucket", "", 0, "le=\"+Inf\"", TARN_M_PLAIN, groups);
    tarn_expo_sample(&scrape->expo, family->name, "_sum", "", 0, "", TARN_M_PLAIN, store->transactions);
    tarn_expo_sample(&scrape->expo, family->name, "_count", "", 0, "", TARN_M_PLAIN, groups);
}

/* The ways in which one commit can be in another's way. */
void tarn_metric_conflicts(const struct tarn_scrape *scrape, const struct tarn_family *family)
{
    static const tarn_code k_codes[] = { TARN_VERSION_CONFLICT, TARN_FILE_CONFLICT };
    char label[64];

    for (size_t i = 0; scrape->app->traffic && i < TARN_COUNT(k_codes); i++) {
        int len = snprintf(label, sizeof label, "code=\"%s\"", tarn_code_slug(k_codes[i]));
        tarn_expo_sample(&scrape->expo, family->name, "", label, (size_t)len, "", family->unit,
                         tarn_traffic_errors(scrape->app->traffic, k_codes[i]));
    }
}
