/* iceberg_commit.c - updates to one table, or to several at once: all of them land in one transaction, or none. Each round
 * judges anew against the newest metadata; who loses the race for the row tries again a few times, as the reference does. */
#include "base/hash.h"
#include "lake/iceberg.h"
#include <string.h>

enum { ATTEMPTS_MAX = 4 }; /* rounds at most: TARN_RECHECKS_MAX and the first one */
_Static_assert(ATTEMPTS_MAX <= TARN_RECHECKS_MAX + 1, "the last refusal is a conflict");

static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_commit_use *use = state;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < use->count && code == TARN_OK; i++)
        code = tarn_iceberg_prepare(lake, &use->works[i], err);
    return code;
}

static tarn_code change(struct tarn_tx *tx, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_commit_use *use = state;
    TARN_ERR(fault);
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < use->count && code == TARN_OK; i++)
        code = tarn_iceberg_land(tx, use->lake, &use->works[i], &fault);
    if (code == TARN_RECHECK && use->works[0].attempts >= ATTEMPTS_MAX)
        return tarn_fail(err, TARN_VERSION_CONFLICT, "Cannot commit: the table changed meanwhile, %d times in a row",
                         ATTEMPTS_MAX);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

/* Several tables at once are not ordered by one of them. */
static uint64_t turn(const void *state)
{
    const struct tarn_iceberg_commit_use *use = state;
    char dotted[TARN_DOTTED_MAX];

    if (use->count != 1)
        return 0;
    tarn_ident_format(use->works->ident.namespace_, use->works->ident.name, dotted);
    return tarn_hash128(dotted, strlen(dotted)).lo | 1;
}

static void settled(struct tarn_lake *lake, void *state)
{
    struct tarn_iceberg_commit_use *use = state;

    for (size_t i = 0; i < use->count; i++)
        tarn_iceberg_landed(lake, &use->works[i]);
}

static bool needs_after(const void *state)
{
    const struct tarn_iceberg_commit_use *use = state;

    for (size_t i = 0; i < use->count; i++)
        if (use->works[i].meta)
            return true;
    return false;
}

static tarn_code after(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_commit_use *use = state;

    (void)err;
    for (size_t i = 0; i < use->count; i++)
        tarn_iceberg_remove_gone(lake, &use->works[i]);
    return TARN_OK;
}

static void withdraw(struct tarn_lake *lake, void *state, tarn_code code)
{
    struct tarn_iceberg_commit_use *use = state;

    for (size_t i = 0; i < use->count; i++)
        tarn_iceberg_withdraw(lake, &use->works[i], code);
}

static void done(void *state)
{
    struct tarn_iceberg_commit_use *use = state;

    for (size_t i = 0; i < use->count; i++)
        tarn_iceberg_work_done(&use->works[i]);
    free(use->works);
}

const struct tarn_use tarn_iceberg_commit = {
    .name = "iceberg commit",
    .size = sizeof(struct tarn_iceberg_commit_use),
    .turn = turn,
    .check = check,
    .change = change,
    .settled = settled,
    .needs_after = needs_after,
    .after = after,
    .withdraw = withdraw,
    .done = done,
};
