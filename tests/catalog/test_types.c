/* test_types.c - the words of the stored enumerations are the wire's words. */
#include "catalog/types.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define WORD_ROWS(noun, type, ...)                                                                           \
    static void check_##noun(void)                                                                           \
    {                                                                                                        \
        static const struct {                                                                                \
            type value;                                                                                      \
            const char *word;                                                                                \
        } k_rows[] = { __VA_ARGS__ };                                                                        \
        for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {                                                    \
            type back;                                                                                       \
            cr_assert(eq(str, (char *)tarn_##noun##_text(k_rows[i].value), (char *)k_rows[i].word));         \
            cr_assert(tarn_##noun##_parse(k_rows[i].word, &back));                                           \
            cr_assert(eq(int, (int)back, (int)k_rows[i].value));                                             \
        }                                                                                                    \
        type kept = k_rows[0].value;                                                                         \
        cr_assert(not(tarn_##noun##_parse("nonsense", &kept)));                                              \
        cr_assert(not(tarn_##noun##_parse("", &kept)));                                                      \
        cr_assert(not(tarn_##noun##_parse(NULL, &kept)));                                                    \
        cr_assert(eq(int, (int)kept, (int)k_rows[0].value));                                                 \
    }

WORD_ROWS(format, enum tarn_format, { TARN_FORMAT_MANIFEST, "manifest" }, { TARN_FORMAT_ICEBERG, "iceberg" },
          { TARN_FORMAT_DELTA, "delta" }, { TARN_FORMAT_HUDI, "hudi" }, { TARN_FORMAT_PARQUET, "parquet" })
WORD_ROWS(mode, enum tarn_mode, { TARN_MANAGED, "managed" }, { TARN_OBSERVED, "observed" })
WORD_ROWS(enforcement, enum tarn_enforcement, { TARN_ENFORCE_OFF, "off" }, { TARN_ENFORCE_WARN, "warn" },
          { TARN_ENFORCE_REJECT, "reject" })
WORD_ROWS(verify, enum tarn_verify, { TARN_VERIFY_OFF, "off" }, { TARN_VERIFY_SIZE, "size" },
          { TARN_VERIFY_FOOTER, "footer" })
WORD_ROWS(block, enum tarn_block, { TARN_BLOCK_ADOPTION, "adoption_conflict" },
          { TARN_BLOCK_FOREIGN_WRITE, "foreign_write" }, { TARN_BLOCK_STORAGE_AHEAD, "storage_ahead" })
WORD_ROWS(severity, enum tarn_severity, { TARN_SEV_OK, "ok" }, { TARN_SEV_INFO, "info" },
          { TARN_SEV_WARNING, "warning" }, { TARN_SEV_ERROR, "error" }, { TARN_SEV_UNKNOWN, "unknown" })
WORD_ROWS(batch_status, enum tarn_batch_status, { TARN_BATCH_IS_RUNNING, "running" },
          { TARN_BATCH_IS_COMPLETED, "completed" }, { TARN_BATCH_IS_FAILED, "failed" },
          { TARN_BATCH_IS_ROLLED_BACK, "rolled_back" })
WORD_ROWS(scope, enum tarn_scope, { TARN_SCOPE_STATUS, "status:read" }, { TARN_SCOPE_READ, "catalog:read" },
          { TARN_SCOPE_WRITE, "catalog:write" }, { TARN_SCOPE_ADMIN, "admin" })

Test(types, every_word_goes_out_and_comes_back)
{
    check_format();
    check_mode();
    check_enforcement();
    check_verify();
    check_block();
    check_severity();
    check_batch_status();
    check_scope();
    cr_assert(zero(ptr, (void *)tarn_block_text(TARN_BLOCK_NONE)));
}

Test(types, a_row_is_released_whole_and_twice_is_no_harm)
{
    struct tarn_finding finding = { .code = strdup("manifest_age"), .evidence = strdup("{}") };
    struct tarn_commit_row commit = { .transaction = strdup("txn-1"), .metadata = NULL };
    struct tarn_findings none = { 0 };

    tarn_finding_done(&finding);
    tarn_finding_done(&finding);
    cr_assert(zero(ptr, finding.code));
    tarn_commit_row_done(&commit);
    tarn_commit_row_done(&commit);
    cr_assert(zero(ptr, commit.transaction));
    tarn_findings_done(&none);
    tarn_table_free(NULL);
}
