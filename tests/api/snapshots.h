/* snapshots.h - a table `t` whose files are named by one letter each, and what the API gives of it. */
#ifndef TARN_TESTS_API_SNAPSHOTS_H
#define TARN_TESTS_API_SNAPSHOTS_H
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define URL     "/api/table/t/files"
#define S(text) ((char *)(text))

static inline void register_table(const char *more)
{
    cr_assert(eq(uint,
                 tarn_ask("POST", "/api/tables",
                          "{\"name\":\"t\",\"location\":\"%s/t\",\"partition_keys\":[\"hour\"]%s}",
                          g_lake->root, more),
                 201),
              "%s", tarn_answer_text());
}

static inline void commit(const char *ops)
{
    cr_assert(eq(uint,
                 tarn_ask("POST", "/api/table/t/commits", "{\"dataChange\":false,\"operations\":[%s]}", ops),
                 201),
              "%s", tarn_answer_text());
}

/* Adds or removes files named by one letter each. */
static inline void change(const char *adds, const char *removes)
{
    TARN_AUTO_DONE(buf) struct tarn_buf ops = { 0 };

    for (; *removes; removes++)
        tarn_buf_addf(&ops, "%s{\"type\":\"remove_file\",\"path\":\"%c\"}", ops.len ? "," : "", *removes);
    for (; *adds; adds++)
        tarn_buf_addf(&ops, "%s{\"type\":\"add_file\",\"path\":\"%c\",\"size\":1}", ops.len ? "," : "",
                      *adds);
    commit(ops.data);
}

static inline unsigned get(const char *query, const char *accept)
{
    char url[6000];

    snprintf(url, sizeof url, "%s%s", query[0] == '/' ? "" : URL, query);
    if (accept)
        tarn_ask_header("Accept", accept);
    return tarn_ask("GET", url, NULL);
}

static inline void add_paths(struct tarn_buf *out)
{
    size_t i;
    json_t *file;

    json_array_foreach (json_object_get(tarn_answer(), "files"), i, file)
        tarn_buf_adds(out, json_string_value(json_object_get(file, "path")));
}

static inline void expect_paths(const char *query, const char *expected)
{
    TARN_AUTO_DONE(buf) struct tarn_buf paths = { 0 };

    cr_assert(eq(uint, get(query, NULL), 200), "%s: %s", query, tarn_answer_text());
    add_paths(&paths);
    cr_expect(eq(str, paths.data ? paths.data : S(""), S(expected)), "%s", query);
}

/* Versions 1 to 4. */
static inline void fill(void)
{
    register_table("");
    change("ac", "");
    change("b", "a");
    change("ad", "");
    change("", "bc");
}
#endif
