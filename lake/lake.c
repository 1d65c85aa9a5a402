/* lake.c - what all use cases share of a running lake: its catalog id and the memory of which tables'
 * storage was compared with the catalog since the start. */
#include "lake/lake.h"
#include "base/hash.h"
#include "base/time.h"
#include "lake/iceberg_bases.h"
#include "lake/iceberg_retake.h"
#include "lake/lease.h"
#include "lake/look.h"

#define META_CATALOG_ID      "catalog_id"
#define DROPPED_RETENTION_MS (7 * TARN_DAY_MS)
#define HISTORY_RETENTION_MS (30 * TARN_DAY_MS)
#define HISTORY_VERSIONS     100
#define EVENTS_RETENTION_MS  (30 * TARN_DAY_MS)
#define SAMPLES_RETENTION_MS (30 * TARN_DAY_MS)
#define FINDINGS_RETENTION_MS (90 * TARN_DAY_MS)
#define BASES_BYTES           (32u << 20) /* of memory */

static tarn_code id_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_lake *lake = ctx;
    char *text = NULL;
    TARN_ERR(unset);
    tarn_code code = tx->ops->meta.get(tx, META_CATALOG_ID, &text, &unset);

    if (code == TARN_OK) {
        snprintf(lake->catalog_id, sizeof lake->catalog_id, "%s", text);
        free(text);
        return TARN_OK;
    }
    if (code != TARN_NOT_FOUND)
        return tarn_err_move(err, &unset);
    code = tarn_uuid(lake->catalog_id, err);
    if (code != TARN_OK)
        return code;
    return tx->ops->meta.set(tx, META_CATALOG_ID, lake->catalog_id, err);
}

tarn_code tarn_lake_open(struct tarn_lake *lake, struct tarn_store *store, struct tarn_storage *storage,
                         struct tarn_err *err)
{
    tarn_code code = tarn_store_write(store, id_tx, lake, err);

    if (code != TARN_OK)
        return code;
    lake->looked = tarn_looked_new();
    lake->leases = tarn_leases_new();
    lake->bases = tarn_iceberg_bases_new(BASES_BYTES);
    if (!lake->looked || !lake->leases || !lake->bases) {
        tarn_lake_done(lake);
        return tarn_fail_oom(err);
    }
    lake->store = store;
    lake->storage = storage;
    lake->dropped_retention_ms = DROPPED_RETENTION_MS;
    lake->history_retention_ms = HISTORY_RETENTION_MS;
    lake->history_versions = HISTORY_VERSIONS;
    lake->events_retention_ms = EVENTS_RETENTION_MS;
    lake->samples_retention_ms = SAMPLES_RETENTION_MS;
    lake->findings_retention_ms = FINDINGS_RETENTION_MS;
    return TARN_OK;
}

/* --- a backup put in place --- */

static tarn_code backup_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    TARN_AUTO(mem) char *text = NULL;
    TARN_ERR(unset);
    tarn_code code = tx->ops->meta.get(tx, TARN_META_BACKUP, &text, &unset);

    *(bool *)ctx = code == TARN_OK && text[0] != '\0';
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &unset);
}

tarn_code tarn_lake_is_backup(struct tarn_lake *lake, bool *is_backup, struct tarn_err *err)
{
    return tarn_store_read(lake->store, backup_tx, is_backup, err);
}

static tarn_code settled_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    (void)ctx;
    return tx->ops->meta.set(tx, TARN_META_BACKUP, "", err);
}

tarn_code tarn_lake_settle_backup(struct tarn_lake *lake, int64_t *failed, struct tarn_err *err)
{
    tarn_code code = tarn_look_all(lake, true, NULL, NULL, failed, err);

    if (code == TARN_OK)
        code = tarn_iceberg_retake_all(lake, failed, err);
    return code == TARN_OK && *failed == 0 ? tarn_store_write(lake->store, settled_tx, NULL, err) : code;
}

void tarn_lake_done(struct tarn_lake *lake)
{
    tarn_looked_free(lake->looked);
    tarn_leases_free(lake->leases);
    tarn_iceberg_bases_free(lake->bases);
    free(lake->default_root);
    lake->looked = NULL;
    lake->leases = NULL;
    lake->bases = NULL;
    lake->default_root = NULL;
}
