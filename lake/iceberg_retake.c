/* iceberg_retake.c - see iceberg_retake.h. A metadata file bears a number that rises with each commit, and its metadata-log names the
 * files before it: that one names the pointer of the backup, or that it has the table's uuid and a higher number, shows that
 * it came after. */
#include "lake/iceberg_retake.h"
#include "base/log.h"
#include "base/text.h"
#include "lake/iceberg.h"
#include <string.h>

enum { PAGE_TABLES = 100 };

/* --- the newest file --- */

struct newest {
    int64_t number;      /* of the one found so far; at first the pointer's own */
    char name[256];
    bool is_doubtful;    /* two of that number */
};

static tarn_code note(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct newest *n = ctx;
    int64_t number = tarn_iceberg_file_number(object->path);

    (void)err;
    if (object->is_folder || object->is_symlink || !tarn_ends_with(object->path, ".metadata.json") ||
        strlen(object->path) >= sizeof n->name || number < n->number || (number == n->number && !n->name[0]))
        return TARN_OK;
    n->is_doubtful = number == n->number;
    n->number = number;
    snprintf(n->name, sizeof n->name, "%s", object->path);
    return TARN_OK;
}

static tarn_code find_newest(struct tarn_lake *lake, const char *pointer, struct newest *out, struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    TARN_AUTO(mem) char *folder = NULL;
    tarn_code code = tarn_iceberg_locate(pointer, &folder, err);

    if (code != TARN_OK)
        return code;
    *out = (struct newest){ .number = tarn_iceberg_file_number(folder) };
    *strrchr(folder, '/') = '\0';
    if (out->number < 0) /* registered under a name that tells no order */
        return TARN_OK;
    code = tarn_place_open(lake->storage, folder, false, &place, err);
    return code == TARN_OK ? tarn_place_list(place, "", false, note, out, err) : code;
}

/* --- one table --- */

struct table { struct tarn_ident ident; char uuid[40]; char *pointer; };

static tarn_code step(struct tarn_lake *lake, const struct table *table, const char *file, struct tarn_err *err)
{
    struct tarn_iceberg_register_use use = { .lake = lake, .ident = table->ident, .metadata_location = file, .overwrite = true,
                                             .is_own = true };
    tarn_code code = tarn_use_run(lake, &tarn_iceberg_register, &use, err);

    tarn_iceberg_register.done(&use);
    return code;
}

/* Where the files after the pointer of the backup begin in the log; 0: it does not name the pointer. */
static size_t after_pointer(const struct table *table, const struct tarn_iceberg_meta *meta)
{
    size_t at = 0;

    for (size_t i = 0; i < meta->metadata_log.count; i++)
        if (strcmp(meta->metadata_log.items[i].file, table->pointer) == 0)
            at = i + 1;
    return at;
}

/* The files between, where they are still there; then the newest itself. */
static tarn_code follow(struct tarn_lake *lake, const struct table *table, const struct tarn_iceberg_meta *meta,
                        const char *newest, struct tarn_err *err)
{
    size_t at = after_pointer(table, meta);
    tarn_code code = TARN_OK;
    TARN_ERR(missing);

    for (; at < meta->metadata_log.count && code == TARN_OK; at++)
        if (tarn_iceberg_file_stat(lake, meta->metadata_log.items[at].file, &missing) == TARN_OK)
            code = step(lake, table, meta->metadata_log.items[at].file, err);
    return code == TARN_OK ? step(lake, table, newest, err) : code;
}

static tarn_code read_newest(struct tarn_lake *lake, const struct table *table, const char *file,
                             struct tarn_iceberg_meta **out, struct tarn_err *err)
{
    tarn_code code = tarn_iceberg_file_parse(lake, file, out, err);

    /* Since the backup a commit, or a file that took the place of another, may have given the table a uuid of its own. */
    if (code == TARN_OK && after_pointer(table, *out) == 0 && (!(*out)->uuid || strcmp((*out)->uuid, table->uuid) != 0))
        return tarn_fail(err, TARN_STORAGE_AHEAD, "the newest metadata file is another table's");
    return code;
}

static tarn_code retake(struct tarn_lake *lake, const struct table *table, struct tarn_err *err)
{
    TARN_AUTO(iceberg) struct tarn_iceberg_meta *meta = NULL;
    TARN_AUTO_DONE(buf) struct tarn_buf file = { 0 };
    struct newest newest;
    tarn_code code = find_newest(lake, table->pointer, &newest, err);

    if (code != TARN_OK || !newest.name[0])
        return code;
    if (newest.is_doubtful)
        return tarn_fail(err, TARN_STORAGE_AHEAD, "two metadata files of the number %lld are newer than the catalog's",
                         (long long)newest.number);
    tarn_buf_add(&file, table->pointer, (size_t)(strrchr(table->pointer, '/') + 1 - table->pointer));
    tarn_buf_adds(&file, newest.name);
    code = tarn_buf_check(&file, err);
    if (code == TARN_OK)
        code = read_newest(lake, table, file.data, &meta, err);
    return code == TARN_OK ? follow(lake, table, meta, file.data, err) : code;
}

/* --- all of them --- */

struct page { struct table items[PAGE_TABLES]; size_t count; char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_NAME_MAX + 1]; int64_t id; };

static void page_done(struct page *page)
{
    for (size_t i = 0; i < page->count; i++)
        free(page->items[i].pointer);
    page->count = 0;
}

static tarn_code keep(void *ctx, const struct tarn_table *row, struct tarn_err *err)
{
    struct page *page = ctx;
    struct table *table = &page->items[page->count];

    snprintf(table->ident.namespace_, sizeof table->ident.namespace_, "%s", row->namespace_);
    snprintf(table->ident.name, sizeof table->ident.name, "%s", row->name);
    memcpy(table->uuid, row->uuid, sizeof table->uuid);
    table->pointer = strdup(row->metadata_location);
    if (!table->pointer)
        return tarn_fail_oom(err);
    page->count++;
    snprintf(page->namespace_, sizeof page->namespace_, "%s", row->namespace_);
    snprintf(page->name, sizeof page->name, "%s", row->name);
    page->id = row->id;
    return TARN_OK;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *page = ctx;
    char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_NAME_MAX + 1];
    const struct tarn_table_filter filter = { .format = TARN_FORMAT_ICEBERG, .mode = TARN_MANAGED, .after_namespace = namespace_,
                                              .after_name = name, .after_id = page->id, .limit = PAGE_TABLES };

    page_done(page);
    memcpy(namespace_, page->namespace_, sizeof namespace_);
    memcpy(name, page->name, sizeof name);
    return tx->ops->tables.list(tx, &filter, keep, page, err);
}

static void retake_page(struct tarn_lake *lake, const struct page *page, int64_t *failed)
{
    for (size_t i = 0; i < page->count; i++) {
        TARN_ERR(fault);
        if (retake(lake, &page->items[i], &fault) == TARN_OK)
            continue;
        (*failed)++;
        tarn_log(TARN_LOG_WARN, "table_not_compared", "location", page->items[i].pointer, "detail", fault.detail, NULL);
    }
}

tarn_code tarn_iceberg_retake_all(struct tarn_lake *lake, int64_t *failed, struct tarn_err *err)
{
    struct page *page = calloc(1, sizeof *page);
    tarn_code code = page ? TARN_OK : tarn_fail_oom(err);
    size_t count = PAGE_TABLES;

    while (code == TARN_OK && count == PAGE_TABLES) {
        code = tarn_store_read(lake->store, page_tx, page, err);
        count = page->count;
        if (code == TARN_OK)
            retake_page(lake, page, failed);
    }
    if (page)
        page_done(page);
    free(page);
    return code;
}
