/* test_schema_map_random.c - mappings of random histories against a model that knows no names: in it a column has an
 * identity from its birth to its end, so that a file's column is found by identity instead of step by step. */
#include "base/own.h"
#include "catalog/schema_map.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

enum { VERSIONS = 12, COLUMNS = 24, NAMES = 8, HISTORIES = 400, CHANGES = 4 };

static const char *const k_types[] = { "int32", "int64", "string", "float", "double" };

struct model_column {
    int id, parent; /* parent 0: at the top; else the id of its struct */
    int name, type; /* type -1: a struct */
    int birth;      /* its default, -1: none; told by the version that bore it */
};
struct model_version {
    struct model_column columns[COLUMNS];
    int count;
    int renamed_from[NAMES]; /* by new name, top level: the old name, -1: none */
};
struct history {
    uint64_t state;
    int next_id;
    struct model_version versions[VERSIONS];
};

static int below(struct history *h, int n)
{
    h->state = h->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((h->state >> 33) % (uint64_t)n);
}

static bool has_name(const struct model_version *v, int parent, int name)
{
    for (int i = 0; i < v->count; i++)
        if (v->columns[i].parent == parent && v->columns[i].name == name)
            return true;
    return false;
}

static bool is_renamed_away(const struct model_version *v, int name)
{
    for (int i = 0; i < NAMES; i++)
        if (v->renamed_from[i] == name)
            return true;
    return false;
}

/* A name that nobody has now, and nobody had in the version before unless a rename took it from him: a drop and an
 * add of one name in one step cannot be told from nothing at all. */
static bool is_free(const struct model_version *before, const struct model_version *v, int parent, int name)
{
    return !has_name(v, parent, name) && (!has_name(before, parent, name) || (parent == 0 && is_renamed_away(v, name)));
}

static void add(struct history *h, const struct model_version *before, struct model_version *v, int parent)
{
    int name = below(h, NAMES);

    if (v->count == COLUMNS || !is_free(before, v, parent, name))
        return;
    int type = parent == 0 && below(h, 4) == 0 ? -1 : below(h, 5);
    v->columns[v->count++] = (struct model_column){ ++h->next_id, parent, name, type,
                                                    type >= 0 && below(h, 2) ? below(h, 100) : -1 };
    if (type < 0)
        add(h, before, v, h->next_id);
}

/* Not of one that was renamed in this step: somebody may have its old name by now. */
static void drop(struct model_version *v, const struct model_column *c)
{
    int kept = 0, id = c->id;

    if (c->parent == 0 && v->renamed_from[c->name] >= 0)
        return;
    for (int i = 0; i < v->count; i++)
        if (v->columns[i].id != id && v->columns[i].parent != id)
            v->columns[kept++] = v->columns[i];
    v->count = kept;
}

/* Of a column that keeps the name it had; its old name is free from now on. */
static void give_name(struct history *h, const struct model_version *before, struct model_version *v,
                      struct model_column *c)
{
    int name = below(h, NAMES);
    bool is_new = v->renamed_from[c->name] >= 0 || !has_name(before, 0, c->name);

    if (c->parent != 0 || is_new || has_name(v, 0, name) || (has_name(before, 0, name) && !is_renamed_away(v, name)))
        return;
    v->renamed_from[name] = c->name;
    c->name = name;
}

static void swap_places(struct model_column *a, struct model_column *b)
{
    struct model_column c = *a;

    *a = *b;
    *b = c;
}

static void change(struct history *h, const struct model_version *before, struct model_version *v)
{
    struct model_column *c = v->count ? &v->columns[below(h, v->count)] : NULL;

    switch (below(h, 6)) {
    case 0: add(h, before, v, 0); break;
    case 1: add(h, before, v, c && c->type < 0 ? c->id : 0); break;
    case 2: if (c) drop(v, c); break;
    case 3: if (c) give_name(h, before, v, c); break;
    case 4: if (c && c->type >= 0) c->type = below(h, 5); break;
    case 5: if (c) swap_places(c, &v->columns[below(h, v->count)]); break;
    }
}

static void grow(struct history *h)
{
    static const struct model_version k_empty = { .count = 0 };

    for (int n = 0; n < VERSIONS; n++) {
        const struct model_version *before = n ? &h->versions[n - 1] : &k_empty;
        struct model_version *v = &h->versions[n];
        *v = *before;
        memset(v->renamed_from, -1, sizeof v->renamed_from);
        for (int i = 0; i < CHANGES; i++)
            change(h, before, v);
    }
}

/* ---- as schemas ---- */

static void write_fields(struct tarn_buf *out, const struct model_version *v, int parent)
{
    const char *comma = "";

    tarn_buf_adds(out, "{\"type\":\"struct\",\"fields\":[");
    for (int i = 0; i < v->count; i++) {
        const struct model_column *c = &v->columns[i];
        if (c->parent != parent)
            continue;
        tarn_buf_addf(out, "%s{\"name\":\"n%d\",\"type\":", comma, c->name);
        if (c->type < 0)
            write_fields(out, v, c->id);
        else
            tarn_buf_addf(out, "\"%s\"", k_types[c->type]);
        if (c->birth >= 0)
            tarn_buf_addf(out, ",\"default\":%d", c->birth);
        tarn_buf_adds(out, "}");
        comma = ",";
    }
    tarn_buf_adds(out, "]}");
}

static void write_renames(struct tarn_buf *out, const struct model_version *v)
{
    const char *comma = "";

    tarn_buf_adds(out, "{");
    for (int i = 0; i < NAMES; i++) {
        if (v->renamed_from[i] < 0)
            continue;
        tarn_buf_addf(out, "%s\"n%d\":\"n%d\"", comma, v->renamed_from[i], i);
        comma = ",";
    }
    tarn_buf_adds(out, "}");
}

static void make_rows(const struct history *h, struct tarn_schema_row rows[VERSIONS])
{
    for (int n = 0; n < VERSIONS; n++) {
        TARN_AUTO_DONE(buf) struct tarn_buf schema = { 0 }, renames = { 0 };
        write_fields(&schema, &h->versions[n], 0);
        write_renames(&renames, &h->versions[n]);
        rows[n] = (struct tarn_schema_row){ n + 1, tarn_buf_take(&schema), tarn_buf_take(&renames), 0 };
    }
}

/* ---- the mapping by identity ---- */

static const struct model_column *by_id(const struct model_version *v, int id)
{
    for (int i = 0; i < v->count; i++)
        if (v->columns[i].id == id)
            return &v->columns[i];
    return NULL;
}

static void write_path(struct tarn_buf *out, const struct model_version *v, const struct model_column *c)
{
    if (c->parent)
        tarn_buf_addf(out, "n%d.", by_id(v, c->parent)->name);
    tarn_buf_addf(out, "n%d", c->name);
}

static void write_expected(struct tarn_buf *out, const struct history *h, int from, const struct model_column *c)
{
    const struct model_version *newest = &h->versions[VERSIONS - 1], *old = &h->versions[from - 1];
    const struct model_column *was = by_id(old, c->id);

    tarn_buf_addf(out, "%s{\"name\":\"", out->len && out->data[out->len - 1] == '}' ? "," : "");
    write_path(out, newest, c);
    tarn_buf_addf(out, "\",\"type\":\"%s\",\"source\":", c->type < 0 ? "struct" : k_types[c->type]);
    if (was) {
        tarn_buf_adds(out, "\"");
        write_path(out, old, was);
        tarn_buf_adds(out, "\"");
    } else {
        tarn_buf_adds(out, "null");
    }
    if (was && was->type != c->type)
        tarn_buf_addf(out, ",\"cast\":\"%s->%s\"", k_types[was->type], k_types[c->type]);
    else
        tarn_buf_adds(out, ",\"cast\":null");
    if (!was && c->birth >= 0)
        tarn_buf_addf(out, ",\"default\":%d}", c->birth);
    else
        tarn_buf_adds(out, ",\"default\":null}");
    for (int i = 0; c->type < 0 && i < newest->count; i++)
        if (newest->columns[i].parent == c->id)
            write_expected(out, h, from, &newest->columns[i]);
}

static void check(const struct history *h, const struct tarn_schema_row *rows, int from, uint64_t seed)
{
    TARN_AUTO_DONE(buf) struct tarn_buf want = { 0 }, got = { 0 };
    TARN_AUTO(schema_map) struct tarn_schema_map *map = NULL;
    struct tarn_jsonw w = tarn_jsonw_to(&got);
    const struct model_version *newest = &h->versions[VERSIONS - 1];

    tarn_buf_addf(&want, "{\"from\":%d,\"to\":%d,\"fields\":[", from, VERSIONS);
    for (int i = 0; i < newest->count; i++)
        if (newest->columns[i].parent == 0)
            write_expected(&want, h, from, &newest->columns[i]);
    tarn_buf_adds(&want, "]}");
    cr_assert(eq(int, tarn_schema_map_of(rows, VERSIONS, from, &map, NULL), TARN_OK), "seed %d", (int)seed);
    tarn_schema_map_write(map, &w);
    cr_assert(eq(str, got.data, want.data), "seed %d, version %d", (int)seed, from);
}

Test(schema_map_random, a_mapping_follows_each_column_by_its_identity)
{
    int renames = 0, absent = 0;

    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        struct history h = { .state = seed * 7919 };
        struct tarn_schema_row rows[VERSIONS];
        grow(&h);
        make_rows(&h, rows);
        for (int from = 1; from <= VERSIONS; from++)
            check(&h, rows, from, seed);
        for (int n = 0; n < VERSIONS; n++)
            tarn_schema_row_done(&rows[n]);
        const struct model_version *newest = &h.versions[VERSIONS - 1];
        for (int i = 0; i < newest->count; i++) {
            const struct model_column *was = by_id(&h.versions[VERSIONS / 2], newest->columns[i].id);
            renames += was && was->name != newest->columns[i].name;
            absent += !was;
        }
    }
    cr_expect(renames > HISTORIES / 4 && absent > HISTORIES / 4, "%d renamed, %d absent: too tame", renames, absent);
}
