/* table_write.c - a table as GET, PATCH, registration and the list show it. What does not apply is null. */
#include "api/native/native.h"

/* Of an observed table the catalog knows only what the last scan read. */
static void write_state(struct tarn_jsonw *w, const struct tarn_table *t, const struct tarn_scan_row *scan)
{
    bool by_scan = t->mode == TARN_OBSERVED && !t->metadata_location && scan && scan->checked_at >= 0;

    if (t->mode == TARN_OBSERVED && !by_scan && !t->metadata_location) {
        tarn_jsonw_kraw(w, "version", "null");
        tarn_jsonw_kraw(w, "published_version", "null");
        tarn_jsonw_kraw(w, "oldest_version", "null");
    } else {
        int64_t version = by_scan ? scan->version : t->version;
        tarn_jsonw_key(w, "version");
        version < 0 ? tarn_jsonw_null(w) : tarn_jsonw_i64(w, version);
        tarn_jsonw_key(w, "published_version");
        t->published_version < 0 ? tarn_jsonw_null(w) : tarn_jsonw_i64(w, t->published_version);
        tarn_jsonw_key(w, "oldest_version");
        t->mode == TARN_OBSERVED ? tarn_jsonw_null(w) : tarn_jsonw_i64(w, t->oldest_version);
    }
    tarn_jsonw_kstr(w, "latest_transaction", by_scan ? scan->latest_transaction : t->latest_transaction);
    int64_t schema = by_scan && scan->schema_version >= 0 ? scan->schema_version : t->schema_version;
    tarn_jsonw_ki64(w, "schema_version", schema);
    tarn_jsonw_kraw(w, "partition_keys",
                    by_scan && scan->partition_keys ? scan->partition_keys : t->partition_keys);
    tarn_jsonw_ktime(w, "last_updated", by_scan ? scan->last_updated : t->committed_at);
}

static void write_settings(struct tarn_jsonw *w, const struct tarn_table *t)
{
    tarn_jsonw_kraw(w, "properties", t->properties);
    tarn_jsonw_kstr(w, "owner", t->owner);
    tarn_jsonw_kraw(w, "monitors", t->monitors);
    tarn_jsonw_kstr(w, "schema_enforcement", tarn_enforcement_text(t->enforcement));
    tarn_jsonw_kstr(w, "verify", tarn_verify_text(t->verify));
    tarn_jsonw_kbool(w, "publish", t->publish);
    tarn_jsonw_kbool(w, "protected", t->protected_);
    tarn_jsonw_kstr(w, "block", tarn_block_text(t->block));
}

void tarn_native_table_members(struct tarn_jsonw *w, const struct tarn_table *t,
                               const struct tarn_scan_row *scan)
{
    char dotted[TARN_DOTTED_MAX];

    tarn_ident_format(t->namespace_, t->name, dotted);
    tarn_jsonw_kstr(w, "name", dotted);
    tarn_jsonw_kstr(w, "namespace", t->namespace_);
    tarn_jsonw_kstr(w, "uuid", t->uuid);
    tarn_jsonw_kstr(w, "format", tarn_format_text(t->format));
    tarn_jsonw_kstr(w, "mode", tarn_mode_text(t->mode));
    tarn_jsonw_kstr(w, "location", t->location);
    tarn_jsonw_kstr(w, "metadata_location", t->metadata_location);
    write_state(w, t, scan);
    write_settings(w, t);
    tarn_jsonw_ktime(w, "created_at", t->created_at);
    tarn_jsonw_ktime(w, "dropped_at", t->dropped_at);
}

void tarn_native_table_write(struct tarn_jsonw *w, const struct tarn_table *t,
                             const struct tarn_scan_row *scan)
{
    tarn_jsonw_object(w);
    tarn_native_table_members(w, t, scan);
    tarn_jsonw_object_end(w);
}
