/* files.c - GET .../files: the newest snapshot, at the version it had when the list began, as JSON, NDJSON or
 * plain absolute URIs. Later pages name that version in their token, so that a chain of pages is one
 * snapshot. */
#include "api/native/list.h"
#include "api/native/native.h"
#include "base/json.h"
#include "base/text.h"
#include "formats/manifest/manifest.h"
#include "lake/commit.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILTER_PREFIX "partition."

struct snapshot {
    const char *transaction;
    int64_t schema_version;
};

struct files_list {
    struct tarn_list list; /* first */
    int64_t table_id, version;
    char *location; /* owned */
    char after[TARN_PATH_MAX + 1];
    json_t *filter; /* owned: key to text, NULL: none */
};

static void files_free(struct tarn_list *list)
{
    struct files_list *l = (struct files_list *)list;

    free(l->location);
    json_decref(l->filter);
    free(l);
}

static void files_freep(struct files_list **l)
{
    if (*l)
        files_free(&(*l)->list);
}

static char *files_token(const struct tarn_list *list)
{
    const struct files_list *l = (const struct files_list *)list;
    char *text = NULL;

    return asprintf(&text, "%" PRId64 " %s", l->version, l->after) < 0 ? NULL : text;
}

/* A query compares text: 14 and "14" are the same hour. */
static bool value_is(const json_t *value, const char *wanted)
{
    if (json_is_string(value))
        return strcmp(json_string_value(value), wanted) == 0;
    TARN_AUTO(mem) char *text = value ? tarn_json_text(value) : NULL;
    return text && strcmp(text, wanted) == 0;
}

static bool is_wanted(const struct files_list *l, const struct tarn_file *file)
{
    const char *key;
    json_t *wanted;

    if (!l->filter)
        return true;
    json_auto_t *values = file->partition_values ? json_loads(file->partition_values, 0, NULL) : NULL;
    json_object_foreach (l->filter, key, wanted)
        if (!value_is(json_object_get(values, key), json_string_value(wanted)))
            return false;
    return true;
}

/* An absolute URI: what RFC 3986 does not allow in a path is percent-encoded. */
static void write_uri(struct tarn_buf *out, const char *location, const char *path)
{
    if (location[0] == '/')
        tarn_buf_adds(out, "file://");
    for (int part = 0; part < 2; part++) {
        for (const char *c = part ? path : location; *c != '\0'; c++) {
            bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                         strchr("-._~/:=@!$&'()*+,;", *c);
            tarn_buf_addf(out, plain ? "%c" : "%%%02X", (unsigned char)*c);
        }
        if (part == 0)
            tarn_buf_addc(out, '/');
    }
    tarn_buf_adds(out, "\r\n");
}

static void write_file(struct files_list *l, const struct tarn_file *file)
{
    if (l->list.form == TARN_LIST_URIS) {
        write_uri(l->list.out, l->location, file->path);
        return;
    }
    l->list.w.comma = l->list.w.comma && l->list.form == TARN_LIST_JSON;
    tarn_manifest_write_file(&l->list.w, file); /* ends its line */
}

static tarn_code visit(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct files_list *l = ctx;

    (void)err;
    if (!is_wanted(l, file))
        tarn_list_skip(&l->list);
    else if (tarn_list_row(&l->list))
        write_file(l, file);
    else
        return TARN_OK;
    snprintf(l->after, sizeof l->after, "%s", file->path);
    return TARN_OK;
}

static tarn_code page(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct files_list *l = ctx;
    char after[TARN_PATH_MAX + 1];

    memcpy(after, l->after, sizeof after);
    return tx->ops->files.page(tx, l->table_id, l->version, after, l->list.ask, visit, l, err);
}

static void read_form(const struct tarn_request *req, enum tarn_list_form *form, const char **type)
{
    static const struct {
        const char *accept, *type;
        enum tarn_list_form form;
    } k_forms[] = {
        { "application/x-ndjson", "application/x-ndjson", TARN_LIST_NDJSON },
        { "text/uri-list", "text/uri-list; charset=utf-8", TARN_LIST_URIS },
    };
    const char *accept = tarn_request_header(req, "Accept");

    *form = TARN_LIST_JSON;
    for (size_t i = 0; accept && i < TARN_COUNT(k_forms); i++) {
        if (!strstr(accept, k_forms[i].accept))
            continue;
        *form = k_forms[i].form;
        *type = k_forms[i].type;
        return;
    }
}

static bool is_key(const json_t *keys, const char *key)
{
    size_t i;
    json_t *name;

    json_array_foreach (keys, i, name)
        if (strcmp(json_string_value(name), key) == 0)
            return true;
    return false;
}

static tarn_code read_filter(const struct tarn_request *req, const struct tarn_table *table, json_t **out,
                             struct tarn_err *err)
{
    json_auto_t *keys = json_loads(table->partition_keys, 0, NULL), *filter = NULL;

    for (size_t i = 0; i < req->query_count; i++) {
        const char *name = req->query[i].key;
        if (!tarn_starts_with(name, FILTER_PREFIX))
            continue;
        if (!is_key(keys, name + strlen(FILTER_PREFIX)))
            return tarn_fail_field(err, name, "the table has no such partition key");
        filter = filter ? filter : json_object();
        if (json_object_set_new(filter, name + strlen(FILTER_PREFIX), json_string(req->query[i].value)) != 0)
            return tarn_fail_oom(err);
    }
    *out = json_incref(filter);
    return TARN_OK;
}

/* A page's token names its version; a version above the table's own is not ours. */
static bool read_position(struct files_list *l, const struct tarn_table *table, const char *token)
{
    char *end = NULL;

    l->version = table->version;
    if (!token)
        return true;
    if (token[0] < '0' || token[0] > '9')
        return false;
    l->version = strtoll(token, &end, 10);
    if (*end != ' ' || strlen(end + 1) > TARN_PATH_MAX || l->version > table->version)
        return false;
    snprintf(l->after, sizeof l->after, "%s", end + 1);
    return true;
}

/* The members before "files", of the version that this list is at. */
static char *head_of(const struct files_list *l, const struct snapshot *at)
{
    TARN_AUTO_DONE(buf) struct tarn_buf head = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&head);

    tarn_jsonw_object(&w);
    tarn_jsonw_ki64(&w, "version", l->version);
    tarn_jsonw_kstr(&w, "transaction", at->transaction);
    tarn_jsonw_ki64(&w, "schema_version", at->schema_version);
    return tarn_buf_take(&head);
}

/* A later page of a table that went on meanwhile: what its version was is in the history. */
struct commit_ctx {
    int64_t table_id, version;
    struct tarn_commit_row row;
};

static void commit_done(struct commit_ctx *c) { tarn_commit_row_done(&c->row); }

static tarn_code commit_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct commit_ctx *c = ctx;
    TARN_ERR(none);

    commit_done(c);
    c->row = (struct tarn_commit_row){ 0 };
    tarn_code code = tx->ops->commits.get(tx, c->table_id, c->version, &c->row, &none);
    return code == TARN_OK || code == TARN_VERSION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &none);
}

static tarn_code make_head(const struct files_list *l, const struct tarn_table *table, char **out,
                           struct tarn_err *err)
{
    __attribute__((cleanup(commit_done))) struct commit_ctx c = { table->id, l->version, { 0 } };
    struct snapshot at = { table->latest_transaction, table->schema_version };
    tarn_code code = TARN_OK;

    if (l->version != table->version) {
        code = tarn_store_read(l->list.store, commit_tx, &c, err);
        at = (struct snapshot){ c.row.transaction, c.row.schema_version };
    }
    if (code != TARN_OK)
        return code;
    *out = head_of(l, &at);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code make_list(const struct tarn_request *req, const struct tarn_table *table,
                           const struct tarn_page *page_of, struct files_list **out, struct tarn_err *err)
{
    __attribute__((cleanup(files_freep))) struct files_list *l = calloc(1, sizeof *l);

    if (!l)
        return tarn_fail_oom(err);
    l->list = (struct tarn_list){ .store = req->app->lake->store,
                                  .page = page,
                                  .token = files_token,
                                  .free = files_free,
                                  .size = page_of->size };
    l->table_id = table->id;
    l->location = strdup(table->location);
    if (!l->location)
        return tarn_fail_oom(err);
    if (!read_position(l, table, page_of->token))
        return tarn_fail_field(err, "page_token", "is not one of this list");
    tarn_code code = read_filter(req, table, &l->filter, err);
    if (code == TARN_OK)
        *out = tarn_take(&l);
    return code;
}

tarn_code tarn_native_files_list(const struct tarn_request *req, struct tarn_reply *reply,
                                 struct tarn_err *err)
{
    __attribute__((cleanup(tarn_page_done))) struct tarn_page page_of = { 0 };
    __attribute__((cleanup(tarn_table_seen_done))) struct tarn_table_seen seen = { 0 };
    __attribute__((cleanup(files_freep))) struct files_list *l = NULL;
    char *head = NULL;
    tarn_code code = tarn_native_table_find(req, &seen, err);

    if (code == TARN_OK)
        code = tarn_managed_check(seen.table, err);
    if (code == TARN_OK)
        code = tarn_request_page(req, &page_of, err);
    if (code == TARN_OK)
        code = make_list(req, seen.table, &page_of, &l, err);
    if (code == TARN_OK)
        code = make_head(l, seen.table, &head, err);
    if (code != TARN_OK)
        return code;
    read_form(req, &l->list.form, &reply->content_type);
    tarn_list_reply(&tarn_take(&l)->list, head, "files", reply);
    return TARN_OK;
}
