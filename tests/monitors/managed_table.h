/* managed_table.h - one managed table of the test's own lake, `t`, with id 1. Its data files are hours old. */
#ifndef TARN_TESTS_MONITORS_MANAGED_TABLE_H
#define TARN_TESTS_MONITORS_MANAGED_TABLE_H
#include "base/time.h"
#include "lake/publish.h"
#include "tests/monitors/table.h"
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define COLUMNS "1; req i64 id"
#define HOURS_AGO(n) (tarn_now_ms() - (n) * INT64_C(3600000))

static inline const char *in_table(const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "t/%s", name);
    return tarn_path(g_lake->root, path);
}

static inline void publish(void)
{
    TARN_ERR(err);

    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_OK), "%s", err.detail);
}

static inline void table(const char *more)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s\"%s}",
                                tarn_path(g_lake->root, "t"), more), 201), "%s", tarn_answer_text());
}

/* Adds `path`, removes `gone` (NULL: nothing). Both lie there, hours old. */
static inline void commit(const char *path, const char *gone, const char *more)
{
    char remove[128] = "";
    size_t size = write_parquet(in_table(path), COLUMNS, HOURS_AGO(5));

    if (gone)
        snprintf(remove, sizeof remove, ",{\"type\":\"remove_file\",\"path\":\"%s\"}", gone);
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits",
                                "{%s\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu}%s]%s}",
                                gone ? "\"expected_version\":1," : "", path, size, remove, more), 201), "%s", tarn_answer_text());
}

/* The codes of the open findings, "a b". */
static inline const char *check(void)
{
    static char codes[1024];
    size_t i, len = 0;
    json_t *finding;

    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/check?depth=sweep", NULL), 200), "%s", tarn_answer_text());
    codes[0] = '\0';
    json_array_foreach (json_object_get(tarn_answer(), "findings"), i, finding)
        len += (size_t)snprintf(codes + len, sizeof codes - len, "%s%s", i ? " " : "",
                                json_string_value(json_object_get(finding, "code")));
    return codes;
}

static inline void put(const char *name, const char *text)
{
    tarn_write_text(in_table(name), text);
    tarn_set_mtime(in_table(name), HOURS_AGO(5));
}
#endif
