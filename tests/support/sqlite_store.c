/* sqlite_store.c - what a test of the adapter asks is a store like any other, so that it is opened in one place. */
#include "tests/support/sqlite_store.h"
#include "catalog/sqlite/sqlite.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

struct tarn_store *tarn_sqlite_store(const char *folder)
{
    struct tarn_sqlite_options options = { .path = tarn_path(folder, "catalog.db"), .migrate = true };
    struct tarn_store *store = NULL;
    TARN_ERR(err);
    cr_assert(eq(int, tarn_sqlite_open(&options, &store, &err), TARN_OK), "%s", err.detail);
    return store;
}
