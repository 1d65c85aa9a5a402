/* repair_mend_documents.c - schema.json, schema_cache.json, the pointer and the manifest. */
#include "formats/manifest/manifest.h"
#include "lake/publish_cache.h"
#include "lake/repair_mend.h"
#include <stdio.h>
#include <string.h>

/* --- the schema --- */

static tarn_code mend_cache(struct tarn_mend *m, struct tarn_err *err)
{
    if (m->run.table->schema_version <= 1)
        return TARN_OK;
    m->run.looks_only = !m->applies;
    m->run.cache_differs = false;
    tarn_code code = tarn_publish_cache_alone(&m->run, err);
    if (code == TARN_OK && m->run.cache_differs)
        code = tarn_repair_tell_write(m->r->use, TARN_DOC_SCHEMA_CACHE, err);
    return code;
}

/* A table without a schema has no such document; one that cannot be read is in everybody's way. */
tarn_code tarn_mend_schema(struct tarn_mend *m, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    enum tarn_publish_found found = TARN_FOUND_SAME;
    bool is_foreign = false;
    tarn_code code = tarn_publish_schema_look(&m->run, &text, &found, &is_foreign, err);

    if (code != TARN_OK || found == TARN_FOUND_SAME)
        return code == TARN_OK ? mend_cache(m, err) : code;
    bool is_wanted = text.len > 0;
    if (is_foreign)
        code = is_wanted ? tarn_mend_aside(m, TARN_DOC_SCHEMA, NULL, NULL, err)
                         : tarn_mend_away(m, TARN_DOC_SCHEMA, err);
    if (code == TARN_OK && is_wanted)
        code = tarn_mend_put(m, TARN_DOC_SCHEMA, text.data, text.len, err);
    return code == TARN_OK ? mend_cache(m, err) : code;
}

/* --- the pointer --- */

static bool is_known(const struct tarn_mend *m, const char *id)
{
    return tarn_fileset_find(&m->ids, id) != NULL;
}

/* The transaction of the version that storage shows, NULL: there is none. */
static tarn_code shown_transaction(struct tarn_mend *m, char out[TARN_TXN_ID_MAX + 1], struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    int64_t version = m->run.table->published_version;
    TARN_ERR(fault);
    tarn_code code = tarn_mend_commit(m, version, &row, &fault);

    snprintf(out, TARN_TXN_ID_MAX + 1, "%s", code == TARN_OK && row.transaction ? row.transaction : "");
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

tarn_code tarn_mend_pointer(struct tarn_mend *m, struct tarn_err *err)
{
    TARN_AUTO(mem) char *there = NULL;
    char shown[TARN_TXN_ID_MAX + 1], text[TARN_TXN_ID_MAX + 2];
    TARN_ERR(fault);
    tarn_code code = shown_transaction(m, shown, err);

    if (code != TARN_OK)
        return code;
    code = tarn_pointer_read(m->run.place, &there, NULL, &fault);
    if (code != TARN_OK && code != TARN_NOT_FOUND && code != TARN_INVALID)
        return tarn_err_move(err, &fault);
    bool is_foreign =
        code == TARN_INVALID || (code == TARN_OK && !is_known(m, there) && strcmp(there, shown) != 0);
    if (code == TARN_OK && strcmp(there, shown) == 0)
        return TARN_OK;
    if (code == TARN_NOT_FOUND && !shown[0])
        return TARN_OK;
    code = !is_foreign ? TARN_OK
           : shown[0]  ? tarn_mend_aside(m, TARN_DOC_POINTER, NULL, NULL, err)
                       : tarn_mend_away(m, TARN_DOC_POINTER, err);
    int len = snprintf(text, sizeof text, "%s\n", shown);
    return code == TARN_OK && shown[0] ? tarn_mend_put(m, TARN_DOC_POINTER, text, (size_t)len, err) : code;
}

/* --- the manifest --- */

/* One that was adopted is written again in Tarn's own form: it may list a file twice, or tell no time. */
static tarn_code is_by_tarn(struct tarn_mend *m, bool *out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { .version = -1 };
    TARN_ERR(fault);
    tarn_code code = TARN_OK;

    *out = m->run.published_by_tarn;
    if (*out)
        return TARN_OK;
    code = tarn_manifest_read_at(m->run.place, &head, NULL, NULL, NULL, &fault);
    *out = code == TARN_OK && head.catalog && strcmp(head.catalog, m->run.lake->catalog_id) == 0 && head.table_uuid &&
           strcmp(head.table_uuid, m->run.table->uuid) == 0;
    return code == TARN_OK || code == TARN_INVALID || code == TARN_NOT_FOUND ? TARN_OK
                                                                             : tarn_err_move(err, &fault);
}

static tarn_code is_absent(struct tarn_mend *m, bool *out, struct tarn_err *err)
{
    struct tarn_object object = { 0 };
    TARN_ERR(fault);
    tarn_code code = tarn_place_stat(m->run.place, TARN_DOC_MANIFEST, &object, &fault);

    *out = code == TARN_NOT_FOUND;
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

/* From here on the publisher takes what lies there for known, and nothing else. */
static tarn_code settle(struct tarn_mend *m, struct tarn_err *err)
{
    struct tarn_repair_use *use = m->r->use;
    tarn_code code = tarn_mend_aside(m, TARN_DOC_MANIFEST, use->publication.manifest_sha256,
                                     use->publication.manifest_token, err);

    use->settles |= code == TARN_OK && m->applies;
    return code;
}

tarn_code tarn_mend_manifest(struct tarn_mend *m, struct tarn_err *err)
{
    struct tarn_repair_use *use = m->r->use;
    bool absent = false, by_tarn = true;
    TARN_ERR(fault);

    use->publication = m->run.pub;
    use->publication.version = m->run.table->published_version;
    use->publication.marks = 0;
    tarn_code code = tarn_publish_manifest_owned(&m->run, &fault);
    m->foreign_manifest = code == TARN_FOREIGN_WRITE;
    if (code == TARN_FOREIGN_WRITE)
        code = settle(m, err);
    else if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (code == TARN_OK)
        code = is_absent(m, &absent, err);
    if (code == TARN_OK && !absent)
        code = is_by_tarn(m, &by_tarn, err);
    bool is_new = m->run.table->published_version < 0; /* its first publication is still to come */
    if (code != TARN_OK || is_new || (!absent && by_tarn && !m->foreign_manifest))
        return code;
    use->marks = true;
    return tarn_repair_tell_write(use, TARN_DOC_MANIFEST, err);
}
