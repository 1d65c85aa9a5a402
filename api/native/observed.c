/* observed.c - the snapshot of a table that others commit to: what its manifest
 * on storage says, read on a worker and sent on piece by piece. The catalog
 * keeps no files of such a table, so there is only the newest snapshot. */
#include "api/native/observed.h"
#include "api/native/list.h"
#include "base/hash.h"
#include "formats/manifest/manifest.h"
#include "lake/commit.h"
#include "lake/file_filter.h"
#include "lake/settings.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (64u << 10)

bool tarn_native_is_observed(const struct tarn_table *table)
{
    return table->mode == TARN_OBSERVED && table->format == TARN_FORMAT_MANIFEST && !table->metadata_location;
}

/* What lies there cannot be read as a manifest: that is the place's fault, not the request's. */
static tarn_code place_fault(tarn_code code, struct tarn_err *fault, struct tarn_err *err)
{
    if (code != TARN_INVALID && code != TARN_NOT_FOUND && code != TARN_PAYLOAD_TOO_LARGE)
        return tarn_err_move(err, fault);
    return tarn_fail(err, TARN_LOCATION_UNREACHABLE, TARN_DOC_MANIFEST ": %s%s%s", fault->field,
                     fault->field[0] ? ": " : "", fault->detail);
}

/* --- files --- */

struct observed {
    struct tarn_list list; /* first */
    struct tarn_place *place;         /* owned */
    struct tarn_manifest_pull *pull;  /* owned */
    struct tarn_file_filter *filter;  /* owned */
    char *location;                   /* owned */
    int64_t table_id;
    int64_t passed; /* files before the next one */
};

static void observed_free(struct tarn_list *list)
{
    struct observed *o = (struct observed *)list;

    tarn_manifest_pull_free(o->pull);
    tarn_place_free(o->place);
    tarn_file_filter_free(o->filter);
    free(o->location);
    free(o);
}

static void observed_freep(struct observed **o)
{
    if (*o)
        observed_free(&(*o)->list);
}

/* The document, as far as one number can tell it from others. */
static uint64_t document_of(const struct tarn_manifest_pull *pull)
{
    const char *token = tarn_manifest_pull_token(pull);

    return tarn_hash128(token, strlen(token)).lo;
}

static char *observed_token(const struct tarn_list *list)
{
    const struct observed *o = (const struct observed *)list;
    char *text = NULL;
    int len =
        asprintf(&text, "o%" PRId64 ".%" PRId64 ".%016" PRIx64, o->table_id, o->passed, document_of(o->pull));

    return len < 0 ? NULL : text;
}

static tarn_code pull_rows(struct tarn_list *list, struct tarn_err *err)
{
    struct observed *o = (struct observed *)list;
    const struct tarn_file *file = NULL;

    while (list->rows < list->ask && !list->more) {
        tarn_code code = tarn_manifest_pull_next(o->pull, &file, err);
        if (code != TARN_OK || !file)
            return code;
        if (!tarn_file_filter_wants(o->filter, file))
            tarn_list_skip(list);
        else if (tarn_list_row(list))
            tarn_native_file_write(list, o->location, file);
        o->passed += !list->more;
    }
    return TARN_OK;
}

static tarn_code open_manifest(const struct tarn_request *req, const struct tarn_table *table,
                               struct observed *o, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_place_open(req->app->lake->storage, table->location, false, &o->place, &fault);

    if (code == TARN_OK)
        code = tarn_manifest_pull_open(o->place, &o->pull, &fault);
    return code == TARN_OK ? TARN_OK : place_fault(code, &fault, err);
}

/* A later page goes on in the same document, or not at all. */
static tarn_code seek(struct observed *o, const char *token, struct tarn_err *err)
{
    const struct tarn_file *file = NULL;
    int64_t table_id = 0, passed = 0;
    uint64_t document = 0;
    tarn_code code = TARN_OK;

    if (!token)
        return TARN_OK;
    if (sscanf(token, "o%" SCNd64 ".%" SCNd64 ".%" SCNx64, &table_id, &passed, &document) != 3 ||
        table_id != o->table_id)
        return tarn_fail_field(err, "page_token", "is not one of this list");
    if (document != document_of(o->pull))
        return tarn_fail_field(err, "page_token", "the manifest on storage was replaced since: begin again");
    while (o->passed < passed && code == TARN_OK) {
        code = tarn_manifest_pull_next(o->pull, &file, err);
        o->passed++;
    }
    return code;
}

static tarn_code judge_ask(const struct tarn_request *req, const struct tarn_manifest_head *head,
                           struct tarn_err *err)
{
    int64_t version = head->version;
    tarn_code code = tarn_query_i64(req, "version", 0, INT64_MAX, &version, err);

    if (code != TARN_OK)
        return code;
    if (tarn_query(req, "transaction") || tarn_query(req, "as_of"))
        return tarn_fail(err, TARN_TABLE_NOT_MANAGED, "of an observed table only the newest snapshot is known");
    if (version != head->version)
        return tarn_fail_code_field(err, TARN_VERSION_NOT_FOUND, "version",
                                    "the manifest on storage is of another version");
    return TARN_OK;
}

static tarn_code make_filter(const struct tarn_request *req, struct tarn_table_seen *seen,
                             struct tarn_file_filter **out, struct tarn_err *err)
{
    TARN_AUTO(file_filter) struct tarn_file_filter *filter = tarn_file_filter_new();
    struct tarn_table table = *seen->table; /* borrowed texts */
    tarn_code code = filter ? TARN_OK : tarn_fail_oom(err);
    bool taken;

    if (seen->has_scan && seen->scan.partition_keys)
        table.partition_keys = seen->scan.partition_keys;
    for (size_t i = 0; i < req->query_count && code == TARN_OK; i++)
        code = tarn_file_filter_add(filter, &table, req->query[i].key, req->query[i].value, &taken, err);
    if (code == TARN_OK)
        code = tarn_file_filter_settle(filter, req->app->lake->store, &table, table.schema_version, err);
    if (code == TARN_OK)
        *out = tarn_take(&filter);
    return code;
}

static void write_known(struct tarn_jsonw *w, const char *key, int64_t value)
{
    tarn_jsonw_key(w, key);
    value < 0 ? tarn_jsonw_null(w) : tarn_jsonw_i64(w, value);
}

static tarn_code make_head(const struct tarn_manifest_head *head, char **out, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&text);

    tarn_jsonw_object(&w);
    write_known(&w, "version", head->version);
    tarn_jsonw_kstr(&w, "transaction", head->transaction);
    write_known(&w, "schema_version", head->schema_version);
    *out = tarn_buf_take(&text);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code make_list(const struct tarn_request *req, struct tarn_table_seen *seen, const char *token,
                           struct observed **out, struct tarn_err *err)
{
    __attribute__((cleanup(observed_freep))) struct observed *o = calloc(1, sizeof *o);

    if (!o)
        return tarn_fail_oom(err);
    o->list = (struct tarn_list){ .pull = pull_rows, .token = observed_token, .free = observed_free };
    o->table_id = seen->table->id;
    o->location = strdup(seen->table->location);
    tarn_code code = o->location ? open_manifest(req, seen->table, o, err) : tarn_fail_oom(err);
    if (code == TARN_OK)
        code = judge_ask(req, tarn_manifest_pull_head(o->pull), err);
    if (code == TARN_OK)
        code = make_filter(req, seen, &o->filter, err);
    if (code == TARN_OK)
        code = seek(o, token, err);
    if (code == TARN_OK)
        *out = tarn_take(&o);
    return code;
}

tarn_code tarn_native_observed_files(const struct tarn_request *req, struct tarn_table_seen *seen,
                                     struct tarn_reply *reply, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_page_done))) struct tarn_page page_of = { 0 };
    __attribute__((cleanup(observed_freep))) struct observed *o = NULL;
    char *head = NULL;
    tarn_code code = tarn_request_page(req, &page_of, err);

    if (code == TARN_OK)
        code = make_list(req, seen, page_of.token, &o, err);
    if (code == TARN_OK)
        code = make_head(tarn_manifest_pull_head(o->pull), &head, err);
    if (code != TARN_OK)
        return code;
    o->list.size = page_of.size;
    tarn_native_files_form(req, &o->list.form, &reply->content_type);
    return tarn_list_answer(&tarn_take(&o)->list, head, "files", req, reply, err);
}

/* --- the document itself --- */

struct document {
    struct tarn_place *place;   /* owned */
    struct tarn_reader *reader; /* owned */
    struct tarn_object object;
};

static void document_free(void *state)
{
    struct document *d = state;

    tarn_reader_free(d->reader);
    tarn_place_free(d->place);
    free(d);
}

static void document_freep(struct document **d)
{
    if (*d)
        document_free(*d);
}

static tarn_code produce(void *state, struct tarn_buf *out, bool *end, struct tarn_err *err)
{
    struct document *d = state;
    char *room = tarn_buf_reserve(out, PIECE_BYTES);
    size_t len = 0;

    if (!room)
        return tarn_fail_oom(err);
    tarn_code code = tarn_reader_fill(d->reader, room, PIECE_BYTES, &len, err);
    out->len += code == TARN_OK ? len : 0;
    out->data[out->len] = '\0';
    *end = len == 0;
    return code;
}

tarn_code tarn_native_observed_manifest(const struct tarn_request *req, const struct tarn_table *table,
                                        struct tarn_reply *reply, struct tarn_err *err)
{
    __attribute__((cleanup(document_freep))) struct document *d = calloc(1, sizeof *d);
    const char *have = tarn_request_header(req, "If-None-Match");
    char etag[TARN_ETAG_TEXT];
    TARN_ERR(fault);

    if (!d)
        return tarn_fail_oom(err);
    if (tarn_query(req, "version"))
        return tarn_fail(err, TARN_TABLE_NOT_MANAGED, "of an observed table only the newest manifest is known");
    tarn_code code = tarn_place_open(req->app->lake->storage, table->location, false, &d->place, &fault);
    if (code == TARN_OK)
        code = tarn_place_reader(d->place, TARN_DOC_MANIFEST, &d->reader, &d->object, &fault);
    if (code != TARN_OK)
        return place_fault(code, &fault, err);
    snprintf(etag, sizeof etag, "\"o.%016" PRIx64 "\"",
             tarn_hash128(d->object.token, strlen(d->object.token)).lo);
    tarn_reply_header(reply, "ETag", "%s", etag);
    reply->status = have && tarn_etag_matches(have, etag) ? 304 : 200;
    if (reply->status == 200)
        reply->stream = (struct tarn_stream){ produce, document_free, tarn_take(&d) };
    return TARN_OK;
}
