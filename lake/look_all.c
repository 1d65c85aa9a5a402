/* look_all.c - at the start every managed table is compared with its storage, so that a
 * catalog restored from a backup shows what storage knows before anybody asks for it. */
#include "base/log.h"
#include "lake/look.h"
#include "lake/publish_run.h"
#include <stdio.h>
#include <string.h>

enum { PAGE_TABLES = 100 };

struct page {
    char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_NAME_MAX + 1];
    int64_t after_id;
    struct tarn_table tables[PAGE_TABLES]; /* id and publish alone */
    char locations[PAGE_TABLES][256];      /* for the log; cut */
    size_t count;
};

static tarn_code note_table(void *ctx, const struct tarn_table *table, struct tarn_err *err)
{
    struct page *p = ctx;

    (void)err;
    p->tables[p->count] = (struct tarn_table){ .id = table->id, .publish = table->publish };
    snprintf(p->locations[p->count++], sizeof p->locations[0], "%s", table->location);
    snprintf(p->namespace_, sizeof p->namespace_, "%s", table->namespace_);
    snprintf(p->name, sizeof p->name, "%s", table->name);
    p->after_id = table->id;
    return TARN_OK;
}

struct walk {
    struct page *page;
    char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_NAME_MAX + 1];
    int64_t after_id;
};

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct walk *w = ctx;
    const struct tarn_table_filter filter = { .format = TARN_FORMAT_MANIFEST,
                                              .mode = TARN_MANAGED,
                                              .after_namespace = w->namespace_,
                                              .after_name = w->name,
                                              .after_id = w->after_id,
                                              .limit = PAGE_TABLES };

    w->page->count = 0;
    return tx->ops->tables.list(tx, &filter, note_table, w->page, err);
}

/* Names that were taken, until the end. */
struct taken {
    struct tarn_look_name *items; /* owned */
    size_t count;
};

static void keep_taken(struct taken *taken, const struct tarn_look_name *one)
{
    struct tarn_look_name *more =
        one->name[0] ? reallocarray(taken->items, taken->count + 1, sizeof *more) : NULL;

    if (!more)
        return; /* nothing to keep; or no memory: the table keeps its name */
    taken->items = more;
    taken->items[taken->count++] = *one;
}

/* One table's fault is no other's. */
static void look_at(struct tarn_lake *lake, const struct page *p, size_t i, bool is_thorough,
                    struct taken *taken, int64_t *failed)
{
    struct tarn_publish_turn turn = { lake, p->tables[i].id, NULL };
    struct tarn_look_name one = { .table_id = p->tables[i].id };
    TARN_ERR(fault);

    if (!tarn_look_is_due(lake, &p->tables[i]))
        return;
    tarn_publish_turn_begin(&turn);
    tarn_code code = tarn_look_in_turn(lake, &p->tables[i], is_thorough, &one, &fault);
    tarn_publish_turn_end(&turn);
    keep_taken(taken, &one);
    if (code == TARN_OK)
        return;
    (*failed)++;
    if (!atomic_load(&lake->stopping))
        tarn_log(TARN_LOG_WARN, "table_not_compared", "location", p->locations[i], "detail", fault.detail,
                 NULL);
}

static tarn_code look_page(struct tarn_lake *lake, struct walk *w, bool is_thorough,
                           bool (*is_over)(void *ctx), void *ctx, struct taken *taken, int64_t *failed,
                           struct tarn_err *err)
{
    tarn_code code = tarn_store_read(lake->store, page_tx, w, err);

    for (size_t i = 0; code == TARN_OK && i < w->page->count && !(is_over && is_over(ctx)); i++)
        look_at(lake, w->page, i, is_thorough, taken, failed);
    memcpy(w->namespace_, w->page->namespace_, sizeof w->namespace_);
    memcpy(w->name, w->page->name, sizeof w->name);
    w->after_id = w->page->after_id;
    return code;
}

tarn_code tarn_look_all(struct tarn_lake *lake, bool is_thorough, bool (*is_over)(void *ctx), void *ctx,
                        int64_t *failed, struct tarn_err *err)
{
    struct page *page = calloc(1, sizeof *page);
    struct walk *walk = calloc(1, sizeof *walk);
    struct taken taken = { NULL, 0 };
    tarn_code code = page && walk ? TARN_OK : tarn_fail_oom(err);

    *failed = 0;
    if (code == TARN_OK)
        walk->page = page;
    while (code == TARN_OK) {
        code = look_page(lake, walk, is_thorough, is_over, ctx, &taken, failed, err);
        if (page->count < PAGE_TABLES || (is_over && is_over(ctx)))
            break;
    }
    if (code == TARN_OK)
        code = tarn_look_rename(lake, taken.items, taken.count, err);
    free(taken.items);
    free(page);
    free(walk);
    return code;
}
