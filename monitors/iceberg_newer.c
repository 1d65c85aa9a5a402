/* iceberg_newer.c - metadata files that follow the one the catalog points at. A commit writes its file before the row names it, and takes
 * it back when it is refused: one that stays is of a commit that the database forgot (it was copied, or restored), of another
 * catalog that still commits, or of a commit that a crash cut off. What it is of, nothing here can tell: it is named. */
#include "lake/iceberg.h"
#include "monitors/gather.h"
#include "monitors/judge.h"
#include <string.h>

enum { KEPT_MAX = 4 };

struct newer {
    int64_t number;     /* of those kept; at first the pointer's own */
    int64_t before_ms;  /* younger ones may be a commit at work */
    char names[KEPT_MAX][256];
    size_t count;
};

static tarn_code note(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct newer *n = ctx;
    int64_t number = tarn_iceberg_file_number(object->path);
    bool is_one = !object->is_folder && !object->is_symlink && strlen(object->path) < sizeof n->names[0] &&
                  tarn_iceberg_is_file_name(object->path) && number < TARN_ICEBERG_NUMBER_END;

    (void)err;
    if (!is_one || object->mtime_ms > n->before_ms || number < n->number || (number == n->number && n->count == 0))
        return TARN_OK;
    if (number > n->number)
        n->count = 0;
    n->number = number;
    if (n->count < KEPT_MAX)
        snprintf(n->names[n->count++], sizeof n->names[0], "%s", object->path);
    return TARN_OK;
}

static tarn_code list(struct tarn_lake *lake, const char *pointer, struct newer *n, struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    TARN_AUTO(mem) char *folder = NULL;
    TARN_ERR(fault);
    tarn_code code = tarn_iceberg_locate(pointer, &folder, err);

    if (code != TARN_OK)
        return code;
    *strrchr(folder, '/') = '\0';
    code = tarn_place_open(lake->storage, folder, false, &place, &fault);
    if (code == TARN_OK)
        code = tarn_place_list(place, "", false, note, n, &fault);
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault); /* that it is gone is told of the file */
}

/* Files of a table that lay here before stay when it is dropped: they are nobody's. */
static bool follows(const struct tarn_iceberg_meta *meta, const struct tarn_table *table)
{
    for (size_t i = 0; i < meta->metadata_log.count; i++)
        if (strcmp(meta->metadata_log.items[i].file, table->metadata_location) == 0)
            return true;
    return meta->uuid && strcasecmp(meta->uuid, table->uuid) == 0;
}

static tarn_code judge(struct tarn_lake *lake, const struct tarn_table *table, const char *name, struct tarn_facts *facts,
                       struct tarn_err *err)
{
    const char *pointer = table->metadata_location, *own = strrchr(pointer, '/') + 1;
    TARN_AUTO(iceberg) struct tarn_iceberg_meta *meta = NULL;
    TARN_AUTO_DONE(buf) struct tarn_buf file = { 0 };
    char why[300];
    TARN_ERR(unread);

    tarn_buf_add(&file, pointer, (size_t)(own - pointer));
    tarn_buf_adds(&file, name);
    tarn_code code = tarn_buf_check(&file, err);
    if (code != TARN_OK || tarn_iceberg_file_parse(lake, file.data, &meta, &unread) != TARN_OK || !follows(meta, table))
        return code;
    snprintf(why, sizeof why, "the catalog's is %.255s", own);
    return tarn_suspects_add(&facts->metadata_newer, file.data, why, -1, -1, -1, err);
}

tarn_code tarn_iceberg_newer(struct tarn_lake *lake, const struct tarn_gather_ask *ask, const struct tarn_table *table,
                             struct tarn_facts *facts, struct tarn_err *err)
{
    struct newer n = { .number = tarn_iceberg_file_number(table->metadata_location),
                       .before_ms = ask->now_ms - tarn_settings_of(ask->settings, "newer_metadata_file")->grace_ms };

    if (n.number < 0) /* registered under a name that tells no order */
        return TARN_OK;
    tarn_code code = list(lake, table->metadata_location, &n, err);
    for (size_t i = 0; i < n.count && code == TARN_OK; i++)
        code = judge(lake, table, n.names[i], facts, err);
    return code;
}
