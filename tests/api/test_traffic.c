/* What was answered, by route, and how that looks in /metrics. */
#include "api/traffic.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <string.h>

static struct tarn_traffic *traffic;

static void setup(void)
{
    TARN_ERR(err);

    tarn_lake_setup();
    cr_assert(eq(int, (int)tarn_traffic_new(&traffic, &err), (int)TARN_OK));
    g_lake->app.traffic = traffic;
}
static void teardown(void)
{
    tarn_lake_teardown();
    tarn_traffic_free(traffic);
}
TestSuite(traffic, .init = setup, .fini = teardown, .timeout = 30);

static const struct tarn_route *route_of(const char *operation)
{
    for (size_t i = 0; i < tarn_routes_count; i++)
        if (strcmp(tarn_routes[i].operation, operation) == 0)
            return &tarn_routes[i];
    return NULL;
}

/* Does the newest answer hold these lines? */
static void expect_lines(const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cr_expect(tarn_has(tarn_answer_text(), lines[i]), "%s\n%s", lines[i], tarn_answer_text());
}

Test(traffic, answers_are_counted_by_route_class_and_time)
{
    static const char *const k_lines[] = {
        "\ntarn_http_requests_total{method=\"GET\",route=\"/api/tables\",status=\"2xx\"} 3\n",
        "\ntarn_http_requests_total{method=\"GET\",route=\"/api/tables\",status=\"4xx\"} 0\n",
        "\ntarn_http_requests_total{method=\"\",route=\"\",status=\"4xx\"} 1\n",
        "\ntarn_http_request_duration_seconds_bucket{method=\"GET\",route=\"/api/tables\",le=\"0.0005\"} 1\n",
        "\ntarn_http_request_duration_seconds_bucket{method=\"GET\",route=\"/api/tables\",le=\"0.001\"} 1\n",
        "\ntarn_http_request_duration_seconds_bucket{method=\"GET\",route=\"/api/tables\",le=\"0.0025\"} 2\n",
        "\ntarn_http_request_duration_seconds_bucket{method=\"GET\",route=\"/api/tables\",le=\"30.0\"} 2\n",
        "\ntarn_http_request_duration_seconds_bucket{method=\"GET\",route=\"/api/tables\",le=\"+Inf\"} 3\n",
        "\ntarn_http_request_duration_seconds_sum{method=\"GET\",route=\"/api/tables\"} 40.001501\n",
        "\ntarn_http_request_duration_seconds_count{method=\"GET\",route=\"/api/tables\"} 3\n",
        "\ntarn_http_errors_total{code=\"not_found\"} 1\n",
        "\ntarn_http_errors_total{code=\"internal\"} 0\n",
        "\ntarn_http_errors_total{code=\"version_conflict\"} 2\n",
        "\ntarn_commit_conflicts_total{code=\"version_conflict\"} 2\n",
        "\ntarn_commit_conflicts_total{code=\"file_conflict\"} 0\n",
        "\ntarn_http_connections 1\n",
    };

    tarn_traffic_note(traffic, route_of("listTables"), 200, TARN_OK, 500);
    tarn_traffic_note(traffic, route_of("listTables"), 200, TARN_OK, 1001);
    tarn_traffic_note(traffic, route_of("listTables"), 200, TARN_OK, 40000000);
    tarn_traffic_note(traffic, NULL, 404, TARN_NOT_FOUND, 10);
    tarn_traffic_note(traffic, route_of("commitTable"), 409, TARN_VERSION_CONFLICT, 10);
    tarn_traffic_note(traffic, route_of("commitTable"), 409, TARN_VERSION_CONFLICT, 10);
    tarn_traffic_note(NULL, NULL, 200, TARN_OK, 1);
    tarn_traffic_connected(traffic, 1);
    tarn_traffic_connected(traffic, 1);
    tarn_traffic_connected(traffic, -1);
    cr_assert(eq(uint, tarn_ask("GET", "/metrics", NULL), 200));
    expect_lines(k_lines, TARN_COUNT(k_lines));
    cr_expect(not(tarn_has(tarn_answer_text(), "route=\"/api/events\"")), "nobody asked for it");
}

static void *note_many(void *ctx)
{
    for (int i = 0; i < 10000; i++)
        tarn_traffic_note(traffic, ctx, 200, TARN_OK, 1);
    return NULL;
}

Test(traffic, nothing_is_lost_where_many_threads_count)
{
    pthread_t threads[12]; /* more than there are shards */
    struct tarn_traffic_sum sum;
    const struct tarn_route *route = route_of("getStatus");

    for (size_t i = 0; i < TARN_COUNT(threads); i++)
        pthread_create(&threads[i], NULL, note_many, (void *)(uintptr_t)route);
    for (size_t i = 0; i < TARN_COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    tarn_traffic_read(traffic, (size_t)(route - tarn_routes), &sum);
    cr_expect(eq(i64, sum.answers[1], 120000));
    cr_expect(eq(i64, sum.buckets[0], 120000));
    cr_expect(eq(i64, sum.us, 120000));
}

Test(traffic, a_commit_counts_once_it_is_durable_and_a_refused_or_replayed_one_never)
{
    static const char *const k_add = "{\"transaction_id\":\"t-%d\",\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":1}]}";
    struct tarn_store_meters meters;

    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"orders\"}"), 201));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/orders/commits", k_add, 1, "a"), 201), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/orders/commits", k_add, 2, "b"), 201));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/orders/commits", k_add, 2, "b"), 200));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/orders/commits", k_add, 3, "b"), 409));
    tarn_store_meters_read(g_lake->store, &meters);
    cr_expect(eq(i64, meters.commits, 2));
    cr_expect(eq(i64, meters.waiting, 0));
    cr_expect(eq(i64, meters.groups[1], 0), "one after the other");
    cr_expect(meters.groups[0] == meters.transactions && meters.transactions >= 4);
    cr_expect(meters.database_bytes > 0 && meters.log_bytes > 0);
}

Test(traffic, answers_that_hold_too_much_memory_are_refused)
{
    tarn_traffic_hold(traffic, TARN_SCRAPES_BYTES);
    cr_expect(eq(uint, tarn_ask("GET", "/metrics", NULL), 503));
    cr_expect(eq(str, (char *)(uintptr_t)tarn_answer_str("code"), (char *)(uintptr_t) "overloaded"));
    tarn_traffic_hold(traffic, -1);
    cr_expect(eq(uint, tarn_ask("GET", "/metrics", NULL), 200));
    cr_expect(eq(i64, tarn_traffic_held(traffic), TARN_SCRAPES_BYTES - 1), "what it held is given back");
}
