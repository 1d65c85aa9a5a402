/* tables_list.c - GET /api/tables: in the order of namespace and name. A token that is narrowed to some
 * tables is not told of the others. */
#include "api/native/list.h"
#include "api/native/native.h"
#include "base/json.h"
#include "lake/inherit.h"
#include <stdlib.h>
#include <string.h>

struct tables_list {
    struct tarn_list list; /* first: the list's functions get this */
    struct tarn_principal who;
    struct tarn_table_filter filter;
    char namespace_[TARN_NAMESPACE_MAX + 1];
    char *prefix;                  /* owned */
    char *after_namespace, *after; /* owned: the position */
    struct tarn_tx *tx;
    struct tarn_inherited inherited; /* by the tables of the namespace at hand */
};

static void list_free(struct tarn_list *list)
{
    struct tables_list *l = (struct tables_list *)list;

    tarn_inherited_done(&l->inherited);
    free(l->prefix);
    free(l->after_namespace);
    free(l->after);
    free(l);
}

static void list_freep(struct tables_list **l)
{
    if (*l)
        list_free(&(*l)->list);
}

static char *list_token(const struct tarn_list *list)
{
    const struct tables_list *l = (const struct tables_list *)list;
    json_auto_t *position =
        json_pack("[s,s,I]", l->after_namespace, l->after, (json_int_t)l->filter.after_id);

    return position ? tarn_json_text(position) : NULL;
}

static tarn_code move_to(struct tables_list *l, const char *namespace_, const char *name, int64_t id,
                         struct tarn_err *err)
{
    char *n = strdup(namespace_), *t = strdup(name);

    if (!n || !t) {
        free(n);
        free(t);
        return tarn_fail_oom(err);
    }
    free(l->after_namespace);
    free(l->after);
    l->after_namespace = n;
    l->after = t;
    l->filter.after_id = id;
    return TARN_OK;
}

static tarn_code write_table(struct tables_list *l, const struct tarn_table *table, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_scan_row_done))) struct tarn_scan_row scan = { 0 };
    struct tarn_table shown = *table; /* borrowed texts */
    TARN_ERR(none);
    tarn_code code = tarn_inherited_read(l->tx, table->namespace_, &l->inherited, err);

    if (code != TARN_OK)
        return code;
    tarn_inherit_borrowed(&l->inherited, &shown);
    code = TARN_NOT_FOUND;
    if (table->mode == TARN_OBSERVED)
        code = l->tx->ops->monitors.get(l->tx, table->id, &scan, &none);
    if (code != TARN_OK && code != TARN_NOT_FOUND)
        return tarn_err_move(err, &none);
    tarn_native_table_write(&l->list.w, &shown, code == TARN_OK ? &scan : NULL);
    return TARN_OK;
}

static tarn_code visit(void *ctx, const struct tarn_table *table, struct tarn_err *err)
{
    struct tables_list *l = ctx;
    tarn_code code = TARN_OK;

    if (l->list.more)
        return TARN_OK; /* the position stays before what the next page begins with */
    if (!tarn_principal_sees(&l->who, table->namespace_, table->name))
        tarn_list_skip(&l->list);
    else if (tarn_list_row(&l->list))
        code = write_table(l, table, err);
    else
        return TARN_OK;
    return code == TARN_OK ? move_to(l, table->namespace_, table->name, table->id, err) : code;
}

static tarn_code page(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tables_list *l = ctx;
    TARN_AUTO(mem) char *namespace_ = NULL, *name = NULL;
    struct tarn_table_filter filter = l->filter;

    /* The position moves while the filter is in use. */
    if (l->after) {
        namespace_ = strdup(l->after_namespace);
        name = strdup(l->after);
        if (!namespace_ || !name)
            return tarn_fail_oom(err);
    }
    filter.after_namespace = namespace_;
    filter.after_name = name;
    filter.limit = l->list.ask;
    l->tx = tx;
    tarn_inherited_done(&l->inherited); /* it may have changed since the page before */
    return tx->ops->tables.list(tx, &filter, visit, l, err);
}

static tarn_code read_filter(const struct tarn_request *req, struct tables_list *l, struct tarn_err *err)
{
    const char *namespace_ = tarn_query(req, "namespace"), *format = tarn_query(req, "format");
    const char *mode = tarn_query(req, "mode"), *prefix = tarn_query(req, "prefix"),
               *state = tarn_query(req, "state");
    enum tarn_format f = TARN_FORMAT_MANIFEST;
    enum tarn_mode m = TARN_MANAGED;

    if (format && !tarn_format_parse(format, &f))
        return tarn_fail_field(err, "format", "must be manifest, iceberg, delta, hudi or parquet");
    if (mode && !tarn_mode_parse(mode, &m))
        return tarn_fail_field(err, "mode", "must be \"managed\" or \"observed\"");
    if (state && strcmp(state, "dropped") != 0 && strcmp(state, "live") != 0)
        return tarn_fail_field(err, "state", "must be \"live\" or \"dropped\"");
    l->filter.format = format ? (int)f : -1;
    l->filter.mode = mode ? (int)m : -1;
    l->filter.dropped = state && strcmp(state, "dropped") == 0;
    if (prefix) {
        l->filter.prefix = l->prefix = strdup(prefix);
        if (!l->prefix)
            return tarn_fail_oom(err);
    }
    if (!namespace_)
        return TARN_OK;
    l->filter.namespace_ = l->namespace_;
    return tarn_namespace_parse(namespace_, "namespace", l->namespace_, err);
}

static tarn_code read_position(struct tables_list *l, const char *token, struct tarn_err *err)
{
    json_auto_t *position = NULL;
    const char *namespace_ = NULL, *name = NULL;
    json_int_t id = 0;

    if (!token)
        return TARN_OK;
    tarn_code code = tarn_json_parse(token, strlen(token), NULL, &position, err);
    if (code != TARN_OK || json_unpack(position, "[s,s,I!]", &namespace_, &name, &id) != 0)
        return tarn_fail_field(err, "page_token", "is not one of this list");
    return move_to(l, namespace_, name, id, err);
}

tarn_code tarn_native_tables_list(const struct tarn_request *req, struct tarn_reply *reply,
                                  struct tarn_err *err)
{
    __attribute__((cleanup(tarn_page_done))) struct tarn_page page_of = { 0 };
    __attribute__((cleanup(list_freep))) struct tables_list *l = calloc(1, sizeof *l);

    if (!l)
        return tarn_fail_oom(err);
    l->list = (struct tarn_list){
        .store = req->app->lake->store, .page = page, .token = list_token, .free = list_free
    };
    l->who = req->who;
    tarn_code code = tarn_request_page(req, &page_of, err);
    if (code == TARN_OK)
        code = read_filter(req, l, err);
    if (code == TARN_OK)
        code = read_position(l, page_of.token, err);
    if (code != TARN_OK)
        return code;
    l->list.size = page_of.size;
    tarn_list_reply(&tarn_take(&l)->list, NULL, "tables", reply);
    return TARN_OK;
}
