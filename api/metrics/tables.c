/* tables.c - the tables of one scrape. A family must stand in one piece, so all tables are read
 * before the first family is written: page by page, no long transaction, packed into few bytes. */
#include "api/metrics/metrics.h"
#include <stdio.h>
#include <string.h>

static const char *scheme_of(const char *location, char out[16])
{
    size_t len = strcspn(location, ":/");

    if (strncmp(location + len, "://", 3) != 0 || len == 0)
        return "file";
    snprintf(out, 16, "%.*s", (int)len, location);
    return out;
}

static void put_labels(struct tarn_metric_tables *tables, const struct tarn_table *table,
                       struct tarn_buf *text)
{
    char dotted[TARN_DOTTED_MAX], scheme[16];

    tarn_ident_format(table->namespace_, table->name, dotted);
    tarn_buf_clear(text);
    tarn_expo_label(text, "table", dotted);
    tarn_packed_put_text(&tables->labels, text->data, text->len);

    tarn_buf_clear(text);
    tarn_expo_label(text, "format", tarn_format_text(table->format));
    tarn_buf_addc(text, ',');
    tarn_expo_label(text, "mode", tarn_mode_text(table->mode));
    tarn_buf_addc(text, ',');
    tarn_expo_label(text, "location_scheme", scheme_of(table->location, scheme));
    tarn_buf_addc(text, ',');
    tarn_expo_label(text, "owner", table->owner ? table->owner : "");
    tarn_packed_put_text(&tables->infos, text->data, text->len);
}

/* A code that this version does not know any more is left out. */
static void put_codes(struct tarn_packed *list, const struct tarn_status_row *row, bool quiet)
{
    int64_t count = 0;

    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            tarn_packed_put(list, count);
        for (size_t i = 0; i < row->code_count; i++) {
            const struct tarn_open_code *code = &row->codes[i];
            int number = tarn_code_number(code->code);
            bool is_so = quiet ? code->quiet > 0 && code->heard == 0 : code->count > 0;
            if (number < 0 || !is_so)
                continue;
            count++;
            if (pass == 0)
                continue;
            tarn_packed_put(list, number);
            tarn_packed_put(list, code->severity);
        }
    }
}

static tarn_code put_row(void *ctx, const struct tarn_status_row *row, struct tarn_err *err)
{
    struct tarn_metric_tables *tables = ctx;
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    int64_t numbers[TARN_NUMBERS];

    put_labels(tables, row->table, &text);
    put_codes(&tables->active, row, false);
    put_codes(&tables->quiet, row, true);
    tarn_numbers_of(row, tables->defaults, tables->now_ms, numbers);
    bool failed = text.failed || tables->labels.bytes.failed || tables->infos.bytes.failed ||
                  tables->active.bytes.failed || tables->quiet.bytes.failed;
    for (size_t i = 0; i < TARN_NUMBERS; i++) {
        tarn_packed_put(&tables->numbers[i], numbers[i]);
        failed |= tables->numbers[i].bytes.failed;
    }
    tables->count++;
    return failed ? tarn_fail_oom(err) : TARN_OK;
}

void tarn_metric_tables_init(struct tarn_metric_tables *tables, const struct tarn_request *req)
{
    tables->walk.store = req->app->lake->store;
    tables->walk.who = req->who;
    tables->walk.filter.format = tables->walk.filter.mode = -1;
    tables->walk.fn = put_row;
    tables->walk.ctx = tables;
    tables->defaults = req->app->monitors;
    tables->now_ms = req->now_ms;
}

tarn_code tarn_metric_tables_read(struct tarn_metric_tables *tables, bool *end, struct tarn_err *err)
{
    return tarn_status_walk_page(&tables->walk, end, err);
}

int64_t tarn_metric_tables_bytes(const struct tarn_metric_tables *tables)
{
    size_t bytes = tables->labels.bytes.cap + tables->infos.bytes.cap + tables->active.bytes.cap +
                   tables->quiet.bytes.cap;

    for (size_t i = 0; i < TARN_NUMBERS; i++)
        bytes += tables->numbers[i].bytes.cap;
    return (int64_t)bytes;
}

void tarn_metric_tables_done(struct tarn_metric_tables *tables)
{
    tarn_status_walk_done(&tables->walk);
    tarn_packed_done(&tables->labels);
    tarn_packed_done(&tables->infos);
    tarn_packed_done(&tables->active);
    tarn_packed_done(&tables->quiet);
    for (size_t i = 0; i < TARN_NUMBERS; i++)
        tarn_packed_done(&tables->numbers[i]);
}

/* --- families that are more than numbers --- */

void tarn_metric_info(struct tarn_scrape *scrape, const struct tarn_family *family)
{
    TARN_AUTO_DONE(buf) struct tarn_buf more = { 0 };
    size_t len;
    const char *text = tarn_packed_get_text(&scrape->tables.infos, &len);

    tarn_buf_add(&more, text, len);
    scrape->expo.out->failed |= more.failed;
    if (!more.failed)
        tarn_expo_sample(&scrape->expo, family->name, "", scrape->labels, scrape->labels_len, more.data,
                         family->unit, 1);
}

static void write_codes(struct tarn_scrape *scrape, const struct tarn_family *family,
                        struct tarn_packed *list)
{
    int64_t count = tarn_packed_get(list);
    char more[160];

    for (int64_t i = 0; i < count; i++) {
        int64_t code = tarn_packed_get(list), severity = tarn_packed_get(list);
        snprintf(more, sizeof more, "code=\"%s\",severity=\"%s\"", tarn_code_text((int)code),
                 tarn_severity_text((enum tarn_severity)severity));
        tarn_expo_sample(&scrape->expo, family->name, "", scrape->labels, scrape->labels_len, more,
                         family->unit, 1);
    }
}

void tarn_metric_active(struct tarn_scrape *scrape, const struct tarn_family *family)
{
    write_codes(scrape, family, &scrape->tables.active);
}

void tarn_metric_quiet(struct tarn_scrape *scrape, const struct tarn_family *family)
{
    write_codes(scrape, family, &scrape->tables.quiet);
}
