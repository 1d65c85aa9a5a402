/* commit_judge.c - may this commit land on the table as it stands? Pure: the row and the request in, a
 * verdict out. Order: owner, block, backlog, version. */
#include "lake/commit.h"
#include "lake/lease.h"
#include "lake/publish.h"

static const struct {
    enum tarn_block block;
    tarn_code code;
    const char *detail;
} k_blocks[] = {
    { TARN_BLOCK_ADOPTION, TARN_ADOPTION_CONFLICT,
      "manifest and log disagreed when the table was adopted: a repair must choose one of them" },
    { TARN_BLOCK_FOREIGN_WRITE, TARN_FOREIGN_WRITE,
      "someone else wrote the table's documents: a repair must settle it" },
    { TARN_BLOCK_STORAGE_AHEAD, TARN_STORAGE_AHEAD,
      "storage holds commits that the catalog does not know: recover the table first" },
};

tarn_code tarn_managed_check(const struct tarn_table *table, struct tarn_err *err)
{
    if (table->format == TARN_FORMAT_MANIFEST && table->mode == TARN_MANAGED)
        return TARN_OK;
    if (table->format == TARN_FORMAT_ICEBERG && table->mode == TARN_MANAGED)
        return tarn_fail(err, TARN_TABLE_NOT_MANAGED,
                         "the table's commits and files come through the Iceberg REST catalog (/iceberg)");
    return tarn_fail(err, TARN_TABLE_NOT_MANAGED,
                     "the table is %s (format %s): its commits are made elsewhere",
                     tarn_mode_text(table->mode), tarn_format_text(table->format));
}

tarn_code tarn_block_check(const struct tarn_table *table, struct tarn_err *err)
{
    for (size_t i = 0; i < TARN_COUNT(k_blocks); i++)
        if (k_blocks[i].block == table->block)
            return tarn_fail(err, k_blocks[i].code, "%s", k_blocks[i].detail);
    return TARN_OK;
}

tarn_code tarn_commit_judge_version(const struct tarn_commit_use *use, const struct tarn_table *table,
                                    struct tarn_err *err)
{
    if (!use->has_expected || use->expected_version == table->version)
        return TARN_OK;
    tarn_fail_code_field(err, TARN_VERSION_CONFLICT, "expected_version",
                         "the table is at version %lld, not %lld", (long long)table->version,
                         (long long)use->expected_version);
    (void)tarn_err_add(err, "expected_version", json_integer(use->expected_version));
    (void)tarn_err_add(err, "current_version", json_integer(table->version));
    return tarn_err_add(err, "latest_transaction",
                        table->latest_transaction ? json_string(table->latest_transaction) : json_null());
}

static tarn_code judge(const struct tarn_commit_use *use, const struct tarn_table *table,
                       struct tarn_err *err)
{
    tarn_code code = tarn_managed_check(table, err);

    if (code == TARN_OK && table->block == TARN_BLOCK_STORAGE_AHEAD &&
        tarn_lease_is_claimed(use->lake->leases, table->id))
        return tarn_fail(err, TARN_OVERLOADED, "commits that the catalog had lost are being taken back: try again");
    if (code == TARN_OK && table->block != use->cures)
        code = tarn_block_check(table, err);
    if (code != TARN_OK)
        return code;
    if (table->publish && use->lake->publisher && tarn_publisher_overloaded(use->lake->publisher, table))
        return tarn_fail(err, TARN_OVERLOADED, "storage is %lld versions behind: wait until it has caught up",
                         (long long)(table->version - table->published_version));
    if (!tarn_commit_is_staged(use, table))
        code = tarn_staging_check(table, err);
    return code == TARN_OK ? tarn_commit_judge_version(use, table, err) : code;
}

tarn_code tarn_commit_judge_all(struct tarn_tx *tx, const struct tarn_commit_use *use,
                                const struct tarn_table *table, struct tarn_err *err)
{
    tarn_code code = judge(use, table, err);

    return code == TARN_OK && use->judge_more ? use->judge_more(tx, use, table, err) : code;
}

bool tarn_commit_is_staged(const struct tarn_commit_use *use, const struct tarn_table *table)
{
    return use->lease.held && use->lease.table_id == table->id && use->lease.version == table->staging &&
           table->staging == table->version + 1;
}

enum tarn_verify tarn_commit_depth(const struct tarn_commit_use *use, const struct tarn_table *table)
{
    if (use->add_count == 0)
        return TARN_VERIFY_OFF;
    if (table->enforcement != TARN_ENFORCE_OFF && table->schema_version > 0)
        return TARN_VERIFY_FOOTER;
    return use->verify > table->verify ? use->verify : table->verify;
}
