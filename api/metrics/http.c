/* http.c - what was asked and answered, by route. A route that nobody asked for yet has no samples. */
#include "api/metrics/metrics.h"
#include "api/traffic.h"
#include <stdio.h>
#include <string.h>

static int64_t total_of(const struct tarn_traffic_sum *sum)
{
    int64_t total = 0;

    for (size_t i = 0; i < TARN_TRAFFIC_CLASSES; i++)
        total += sum->answers[i];
    return total;
}

/* Addresses that are none of ours count together. */
static void label_of(size_t route, char out[256])
{
    bool is_ours = route < tarn_routes_count;

    snprintf(out, 256, "method=\"%s\",route=\"%s\"", is_ours ? tarn_routes[route].method : "",
             is_ours ? tarn_routes[route].path : "");
}

typedef void each_route(const struct tarn_scrape *scrape, const struct tarn_family *family,
                        const char *labels, const struct tarn_traffic_sum *sum);

static void for_routes(const struct tarn_scrape *scrape, const struct tarn_family *family, each_route *fn)
{
    struct tarn_traffic_sum sum;
    char labels[256];

    for (size_t i = 0; scrape->app->traffic && i <= tarn_routes_count; i++) {
        tarn_traffic_read(scrape->app->traffic, i, &sum);
        if (total_of(&sum) == 0)
            continue;
        label_of(i, labels);
        fn(scrape, family, labels, &sum);
    }
}

/* All classes that an answer can have, so that the first one of each is seen as a step from 0. */
static void write_answers(const struct tarn_scrape *scrape, const struct tarn_family *family,
                          const char *labels, const struct tarn_traffic_sum *sum)
{
    char more[32];

    for (unsigned class_ = 2; class_ <= TARN_TRAFFIC_CLASSES; class_++) {
        snprintf(more, sizeof more, "status=\"%uxx\"", class_);
        tarn_expo_sample(&scrape->expo, family->name, "", labels, strlen(labels), more, family->unit,
                         sum->answers[class_ - 1]);
    }
}

void tarn_metric_answers(const struct tarn_scrape *scrape, const struct tarn_family *family)
{
    for_routes(scrape, family, write_answers);
}

static void write_durations(const struct tarn_scrape *scrape, const struct tarn_family *family,
                            const char *labels, const struct tarn_traffic_sum *sum)
{
    const struct tarn_expo *expo = &scrape->expo;
    int64_t count = 0;
    char more[32];

    for (size_t i = 0; i < TARN_TRAFFIC_BUCKETS; i++) {
        count += sum->buckets[i];
        snprintf(more, sizeof more, "le=\"%s\"", tarn_traffic_bounds[i].text);
        tarn_expo_sample(expo, family->name, "_bucket", labels, strlen(labels), more, TARN_M_PLAIN, count);
    }
    tarn_expo_sample(expo, family->name, "_sum", labels, strlen(labels), "", family->unit, sum->us);
    tarn_expo_sample(expo, family->name, "_count", labels, strlen(labels), "", TARN_M_PLAIN, count);
}

void tarn_metric_durations(const struct tarn_scrape *scrape, const struct tarn_family *family)
{
    for_routes(scrape, family, write_durations);
}

void tarn_metric_errors(const struct tarn_scrape *scrape, const struct tarn_family *family)
{
    char label[80];

    for (int i = TARN_OK + 1; scrape->app->traffic && i < TARN_RECHECK; i++) {
        int64_t count = tarn_traffic_errors(scrape->app->traffic, (tarn_code)i);
        if (count == 0 && tarn_code_http((tarn_code)i) < 500) /* a fault's first one must be seen as a step from 0 */
            continue;
        int len = snprintf(label, sizeof label, "code=\"%s\"", tarn_code_slug((tarn_code)i));
        tarn_expo_sample(&scrape->expo, family->name, "", label, (size_t)len, "", family->unit, count);
    }
}
