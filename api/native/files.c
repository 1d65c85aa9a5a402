/* files.c - GET .../files: one snapshot as JSON, NDJSON or plain absolute URIs. The version is fixed when the
 * list begins, and later pages name it in their token, so that a chain of pages is one snapshot whatever is
 * committed meanwhile. */
#include "api/native/list.h"
#include "api/native/native.h"
#include "api/native/observed.h"
#include "api/native/snapshot.h"
#include "formats/manifest/manifest.h"
#include "lake/commit.h"
#include "lake/file_filter.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct files_list {
    struct tarn_list list; /* first */
    struct tarn_snapshot_cursor cursor;
    int64_t reads_schema;            /* of the whole chain of pages */
    struct tarn_file_filter *filter; /* owned */
    char *location;                  /* owned */
};

static void files_free(struct tarn_list *list)
{
    struct files_list *l = (struct files_list *)list;

    tarn_file_filter_free(l->filter);
    free(l->location);
    free(l);
}

static void files_freep(struct files_list **l)
{
    if (*l)
        files_free(&(*l)->list);
}

/* --- the position as text: table, version and schema version, how far, and in which order --- */

static char *files_token(const struct tarn_list *list)
{
    const struct files_list *l = (const struct files_list *)list;
    const struct tarn_snapshot_cursor *c = &l->cursor;
    char *text = NULL;
    int len = asprintf(&text, "%c%" PRId64 ".%" PRId64 ".%" PRId64 ".%" PRId64 ".%zu %s%s",
                       c->by_key ? 'k' : 'p', c->table_id, c->version, l->reads_schema, c->after_version,
                       strlen(c->told_to), c->told_to, c->after);

    return len < 0 ? NULL : text;
}

static bool read_paths(const char *text, size_t told, struct tarn_snapshot_cursor *out)
{
    size_t len = strlen(text);

    if (told > len || told > TARN_PATH_MAX || len - told > TARN_PATH_MAX)
        return false;
    memcpy(out->told_to, text, told);
    memcpy(out->after, text + told, len - told);
    return true;
}

static bool read_position(const char *token, const struct tarn_table *table, struct files_list *l)
{
    struct tarn_snapshot_cursor c = { .by_key = token[0] == 'k' };
    size_t told = 0;
    char order = 0;
    int at = 0;

    (void)sscanf(token, "%c%" SCNd64 ".%" SCNd64 ".%" SCNd64 ".%" SCNd64 ".%zu%n", &order, &c.table_id,
                 &c.version, &l->reads_schema, &c.after_version, &told, &at);
    if (at == 0 || (order != 'k' && order != 'p') || token[at] != ' ' || c.table_id != table->id ||
        l->reads_schema > table->schema_version || !read_paths(token + at + 1, told, &c))
        return false;
    l->cursor = c;
    return true;
}

/* --- the rows --- */

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

void tarn_native_file_write(struct tarn_list *list, const char *location, const struct tarn_file *file)
{
    if (list->form == TARN_LIST_URIS) {
        write_uri(list->out, location, file->path);
        return;
    }
    list->w.comma = list->w.comma && list->form == TARN_LIST_JSON;
    tarn_manifest_write_file(&list->w, file); /* ends its line */
}

static bool take_file(void *ctx, const struct tarn_file *file)
{
    struct files_list *l = ctx;

    if (!tarn_file_filter_wants(l->filter, file))
        return true;
    if (!tarn_list_row(&l->list))
        return false;
    tarn_native_file_write(&l->list, l->location, file);
    return true;
}

static tarn_code page(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct files_list *l = ctx;

    return tarn_snapshot_page(tx, &l->cursor, l->list.ask, take_file, l, &l->list.rows, err);
}

/* --- the request --- */

void tarn_native_files_form(const struct tarn_request *req, enum tarn_list_form *form, const char **type)
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

/* A later page is of the version that its token names, whatever else the query repeats. */
static tarn_code read_ask(const struct tarn_request *req, const struct tarn_table *table, const char *token,
                          struct files_list *l, struct tarn_snapshot_ask *ask, struct tarn_err *err)
{
    tarn_code code = tarn_native_snapshot_ask(req, ask, err);

    if (code != TARN_OK || !token)
        return code;
    if (!read_position(token, table, l) || (ask->by == TARN_ASK_VERSION && ask->version != l->cursor.version))
        return tarn_fail_field(err, "page_token", "is not one of this list");
    *ask = (struct tarn_snapshot_ask){ .by = TARN_ASK_VERSION, .version = l->cursor.version };
    return TARN_OK;
}

static tarn_code make_filter(const struct tarn_request *req, const struct tarn_table *table,
                             int64_t reads_schema, struct tarn_file_filter **out, struct tarn_err *err)
{
    TARN_AUTO(file_filter) struct tarn_file_filter *filter = tarn_file_filter_new();
    tarn_code code = filter ? TARN_OK : tarn_fail_oom(err);
    bool taken;

    for (size_t i = 0; i < req->query_count && code == TARN_OK; i++)
        code = tarn_file_filter_add(filter, table, req->query[i].key, req->query[i].value, &taken, err);
    if (code == TARN_OK)
        code = tarn_file_filter_settle(filter, req->app->lake->store, table, reads_schema, err);
    if (code == TARN_OK)
        *out = tarn_take(&filter);
    return code;
}

/* The members before "files". */
static tarn_code make_head(const struct tarn_snapshot *at, int64_t reads_schema, char **out,
                           struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf head = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&head);

    tarn_jsonw_object(&w);
    tarn_jsonw_ki64(&w, "version", at->version);
    tarn_jsonw_kstr(&w, "transaction", at->transaction);
    tarn_jsonw_ki64(&w, "schema_version", reads_schema);
    *out = tarn_buf_take(&head);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code make_list(const struct tarn_request *req, const struct tarn_table *table, const char *token,
                           struct files_list **out, char **head, struct tarn_err *err)
{
    __attribute__((cleanup(files_freep))) struct files_list *l = calloc(1, sizeof *l);
    __attribute__((cleanup(tarn_snapshot_done))) struct tarn_snapshot at = { 0 };
    struct tarn_snapshot_ask ask = { 0 };

    if (!l)
        return tarn_fail_oom(err);
    l->list = (struct tarn_list){
        .store = req->app->lake->store, .page = page, .token = files_token, .free = files_free
    };
    l->location = strdup(table->location);
    if (!l->location)
        return tarn_fail_oom(err);
    tarn_code code = read_ask(req, table, token, l, &ask, err);
    if (code == TARN_OK)
        code = tarn_native_snapshot_find(req, table, &ask, &at, token ? NULL : &l->cursor, err);
    if (code != TARN_OK)
        return code;
    if (!token)
        l->reads_schema = at.reads_schema;
    code = make_filter(req, table, l->reads_schema, &l->filter, err);
    if (code == TARN_OK)
        code = make_head(&at, l->reads_schema, head, err);
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

    if (code == TARN_OK && tarn_native_is_observed(seen.table))
        return tarn_native_observed_files(req, &seen, reply, err);
    if (code == TARN_OK)
        code = tarn_managed_check(seen.table, err);
    if (code == TARN_OK)
        code = tarn_request_page(req, &page_of, err);
    if (code == TARN_OK)
        code = make_list(req, seen.table, page_of.token, &l, &head, err);
    if (code != TARN_OK)
        return code;
    l->list.size = page_of.size;
    tarn_native_files_form(req, &l->list.form, &reply->content_type);
    return tarn_list_answer(&tarn_take(&l)->list, head, "files", req, reply, err);
}
