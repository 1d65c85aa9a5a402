/* rebuild_search.c - which folders hold tables, and of which catalog: their documents tell. */
#include "lake/rebuild_search.h"
#include "formats/manifest/manifest.h"
#include "lake/discover.h"
#include "lake/lease.h"
#include <string.h>

#define ID_TEXT 40 /* bytes with the NUL, as struct tarn_table has */

static void candidate_done(struct tarn_rebuild_candidate *c)
{
    free(c->location);
    free(c->root);
    free(c->named);
    free(c->catalog);
    free(c->uuid);
    free(c->metadata);
}

void tarn_search_done(struct tarn_search *s)
{
    for (size_t i = 0; i < s->count; i++)
        candidate_done(&s->items[i]);
    free(s->items);
    tarn_fileset_done(&s->locations);
    tarn_fileset_done(&s->names);
    tarn_fileset_done(&s->uuids);
    tarn_fileset_done(&s->views);
}

/* --- the folders --- */

static tarn_code keep(struct tarn_search *s, const char *location, const struct tarn_found *found,
                      struct tarn_err *err)
{
    struct tarn_fileset_entry *met = tarn_fileset_put(&s->locations, location);

    if (!met)
        return tarn_fail_oom(err);
    if (met->flags & TARN_FILE_SEEN)
        return TARN_OK; /* of a location that was given twice, or inside another */
    met->flags = TARN_FILE_SEEN;
    if (s->count == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 64;
        struct tarn_rebuild_candidate *more = reallocarray(s->items, cap, sizeof *more);
        if (!more)
            return tarn_fail_oom(err);
        s->items = more;
        s->cap = cap;
    }
    struct tarn_rebuild_candidate *c = &s->items[s->count++];
    *c = (struct tarn_rebuild_candidate){ .format = found->format, .is_apart = found->is_apart, .location = strdup(location),
                                          .root = strdup(s->root), .version = -1 };
    return c->location && c->root ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code note_found(void *ctx, const struct tarn_found *found, struct tarn_err *err)
{
    struct tarn_search *s = ctx;
    TARN_AUTO_DONE(buf) struct tarn_buf location = { 0 };

    tarn_buf_adds(&location, s->root);
    if (*found->path)
        tarn_buf_addf(&location, "%s%s", strcmp(s->root, "/") == 0 ? "" : "/", found->path);
    tarn_code code = tarn_buf_check(&location, err);
    if (code != TARN_OK)
        return code;
    if (found->format == TARN_FORMAT_MANIFEST || found->format == TARN_FORMAT_ICEBERG)
        return keep(s, location.data, found, err);
    tarn_rebuild_tell(s->rebuild, location.data, NULL, "a table of the format %s: one that Tarn observes or imports is registered, not rebuilt",
                      tarn_format_text(found->format));
    return TARN_OK;
}

static void tell_walk(struct tarn_search *s, const struct tarn_walked *walked)
{
    for (size_t i = 0; i < walked->unreadable.count; i++)
        tarn_rebuild_tell(s->rebuild, s->root, NULL, "the folder %s could not be listed: %s",
                          walked->unreadable.items[i].subject,
                          walked->unreadable.items[i].note ? walked->unreadable.items[i].note : "");
    if (walked->unreadable.total > (int64_t)walked->unreadable.count)
        tarn_rebuild_tell(s->rebuild, s->root, NULL, "%lld folders could not be listed",
                          (long long)walked->unreadable.total);
    if (walked->is_cut)
        tarn_rebuild_tell(s->rebuild, s->root, NULL, "there are too many folders: name the tables' folders one by one");
}

tarn_code tarn_search_walk(struct tarn_search *s, const char *given, struct tarn_err *err)
{
    TARN_AUTO(mem) char *location = NULL;
    TARN_AUTO(place) struct tarn_place *place = NULL;
    struct tarn_walked walked = { 0 };
    tarn_code code = tarn_location_normalise(given, "location", &location, err);

    if (code == TARN_OK)
        code = tarn_place_open(s->rebuild->lake->storage, location, false, &place, err);
    if (code != TARN_OK)
        return code;
    s->root = location;
    code = tarn_discover(place, &s->rebuild->lake->stopping, note_found, s, &walked, err);
    tell_walk(s, &walked);
    tarn_walked_done(&walked);
    return code;
}

/* --- whose they are --- */

/* Ids of Tarn's are short; a longer text is none. */
static bool are_ids(const char *catalog, const char *uuid)
{
    return catalog && uuid && *catalog && *uuid && strlen(catalog) < ID_TEXT && strlen(uuid) < ID_TEXT;
}

static void take_ids(struct tarn_rebuild_candidate *c, char **catalog, char **uuid, int64_t version,
                     int64_t at_ms)
{
    if (!are_ids(*catalog, *uuid))
        return;
    c->catalog = tarn_take(catalog);
    c->uuid = tarn_take(uuid);
    c->version = version;
    c->last_updated = at_ms;
}

struct any_entry {
    struct tarn_place *place;
    struct tarn_rebuild_candidate *c;
};

/* Where the manifest tells nothing: the first entry that does. */
static tarn_code ask_entry(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    const struct any_entry *any = ctx;
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { .timestamp = -1 };
    TARN_ERR(bad);

    if (any->c->uuid || object->is_folder || object->is_symlink)
        return TARN_OK;
    tarn_code code = tarn_entry_read_at(any->place, object->path, &head, NULL, NULL, NULL, &bad);
    if (code == TARN_INVALID || code == TARN_NOT_FOUND)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &bad);
    take_ids(any->c, &head.catalog, &head.table_uuid, head.version, head.timestamp);
    return TARN_OK;
}

static tarn_code read_head(struct tarn_search *s, struct tarn_rebuild_candidate *c, struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { .version = -1 };
    TARN_ERR(bad);
    tarn_code code = tarn_place_open(s->rebuild->lake->storage, c->location, false, &place, err);

    if (code != TARN_OK)
        return code;
    code = tarn_manifest_read_at(place, &head, NULL, NULL, NULL, &bad);
    if (code != TARN_OK && code != TARN_INVALID && code != TARN_NOT_FOUND)
        return tarn_err_move(err, &bad);
    c->named = tarn_take(&head.table);
    take_ids(c, &head.catalog, &head.table_uuid, head.version, head.last_updated);
    struct any_entry any = { place, c };
    return c->uuid ? TARN_OK : tarn_place_list(place, TARN_DIR_LOG, false, ask_entry, &any, err);
}

static tarn_code read_any(struct tarn_search *s, struct tarn_rebuild_candidate *c, struct tarn_err *err)
{
    if (c->format != TARN_FORMAT_ICEBERG)
        return read_head(s, c, err);
    tarn_code code = s->rebuild->only_missing ? tarn_search_pointed(s, c, err) : TARN_OK;
    return code == TARN_OK && !c->left_out ? tarn_search_newest(s, c, err) : code;
}

tarn_code tarn_search_heads(struct tarn_search *s, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < s->count && code == TARN_OK; i++) {
        struct tarn_rebuild_candidate *c = &s->items[i];
        TARN_ERR(fault);
        code = tarn_lake_goes_on(s->rebuild->lake, err);
        if (code != TARN_OK || read_any(s, c, &fault) == TARN_OK)
            continue;
        c->left_out = true;
        tarn_rebuild_tell(s->rebuild, c->location, c->named, "cannot be read: %s: left out", fault.detail);
    }
    return code;
}

/* The id that most tables have; the smallest one of equals. */
static int by_catalog(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static tarn_code most_common(const struct tarn_search *s, const char **best, bool *agree,
                             struct tarn_err *err)
{
    TARN_AUTO(mem) const char **ids = calloc(s->count + 1, sizeof *ids);
    size_t count = 0, run = 0, most = 0;

    if (!ids)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < s->count; i++)
        if (!s->items[i].left_out && s->items[i].catalog)
            ids[count++] = s->items[i].catalog;
    if (count > 1)
        qsort(ids, count, sizeof *ids, by_catalog);
    for (size_t i = 0; i < count; i++) {
        run = i > 0 && strcmp(ids[i], ids[i - 1]) == 0 ? run + 1 : 1;
        if (run > most) {
            most = run;
            *best = ids[i];
        }
    }
    *agree = most == count;
    return TARN_OK;
}

static void leave_out_others(struct tarn_search *s, const char *catalog)
{
    for (size_t i = 0; i < s->count; i++) {
        struct tarn_rebuild_candidate *c = &s->items[i];
        if (c->left_out || c->format == TARN_FORMAT_ICEBERG)
            continue;
        c->left_out = !c->uuid || !catalog || strcmp(c->catalog, catalog) != 0;
        if (!c->uuid)
            tarn_rebuild_tell(s->rebuild, c->location, c->named,
                              "no document tells a table id: it was observed, or taken over and never committed to: "
                              "register it again");
        else if (c->left_out)
            tarn_rebuild_tell(s->rebuild, c->location, c->named, "belongs to another catalog, %.64s: left out", c->catalog);
    }
}

/* By uuid, of one uuid the one that is furthest first. */
static int by_uuid(const void *a, const void *b)
{
    const struct tarn_rebuild_candidate *x = a, *y = b;
    int order = strcmp(x->uuid ? x->uuid : "", y->uuid ? y->uuid : "");

    if (order == 0 && x->version != y->version)
        return x->version > y->version ? -1 : 1;
    return order ? order : strcmp(x->location, y->location);
}

/* Two folders of one table: the one that is further is the table. */
static void leave_out_copies(struct tarn_search *s)
{
    const struct tarn_rebuild_candidate *kept = NULL;

    if (s->count > 1)
        qsort(s->items, s->count, sizeof *s->items, by_uuid);
    for (size_t i = 0; i < s->count; i++) {
        struct tarn_rebuild_candidate *c = &s->items[i];
        if (c->left_out)
            continue;
        c->left_out = kept && strcmp(c->uuid, kept->uuid) == 0;
        if (c->left_out)
            tarn_rebuild_tell(s->rebuild, c->location, c->named, "a copy of %s (one uuid, at version %lld and %lld): left out",
                              kept->location, (long long)c->version, (long long)kept->version);
        else
            kept = c;
    }
}

tarn_code tarn_search_owners(struct tarn_search *s, const char **catalog, struct tarn_err *err)
{
    const char *best = NULL;
    bool agree = true;
    tarn_code code = most_common(s, &best, &agree, err);

    if (code != TARN_OK)
        return code;
    if (!*catalog && !agree)
        tarn_rebuild_tell(s->rebuild, NULL, NULL, "the documents are of several catalogs: the one of most tables is taken, %.64s",
                          best);
    if (!*catalog)
        *catalog = best;
    leave_out_others(s, *catalog);
    leave_out_copies(s);
    return TARN_OK;
}
