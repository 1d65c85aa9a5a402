/* schema.c - the flat list of SchemaElements as a tree of types. Lists and maps are written in many
 * ways; the rules of compatibility are those of parquet-format, LogicalTypes.md. Leaves come
 * out in the order of the column chunks. */
#include "base/buf.h"
#include "base/text.h"
#include "formats/parquet/footer.h"
#include <string.h>

#define DEPTH_MAX 100 /* levels of the file; three of them make one level of lists */

struct walk {
    struct tarn_pq *pq;
    size_t at;      /* next element */
    size_t depth;   /* of the path */
    size_t repeats; /* repeated elements on the path */
    struct tarn_buf path;
};

static bool fill_field(struct walk *w, const struct tarn_pq_element *element, struct tarn_column *column);

/* Takes the next element, which must be there, and goes one level down; the path's length to go back to. */
static const struct tarn_pq_element *enter(struct walk *w, size_t *before)
{
    struct tarn_pq *pq = w->pq;

    if (w->at >= pq->element_count) {
        (void)tarn_pq_corrupt(pq, "the schema ends in the middle of a group");
        return NULL;
    }
    const struct tarn_pq_element *element = &pq->elements[w->at++];
    const char *name = (const char *)element->name.data;
    if (!name || memchr(name, '\0', element->name.len) || !tarn_utf8_valid(name, element->name.len)) {
        (void)tarn_pq_corrupt(pq, "a column name is missing or no text");
        return NULL;
    }
    if (++w->depth > DEPTH_MAX) {
        (void)tarn_pq_corrupt(pq, "the schema nests more than %d levels", DEPTH_MAX);
        return NULL;
    }
    *before = w->path.len;
    if (w->path.len > 0)
        tarn_buf_addc(&w->path, '.');
    tarn_buf_add(&w->path, name, element->name.len);
    pq->oom = pq->oom || w->path.failed;
    w->repeats += element->repetition == TARN_PQ_REPEATED;
    return pq->oom ? NULL : element;
}

static void leave(struct walk *w, const struct tarn_pq_element *element, size_t before)
{
    w->repeats -= element->repetition == TARN_PQ_REPEATED;
    w->depth--;
    if (!w->path.failed) {
        w->path.len = before;
        w->path.data[before] = '\0';
    }
}

static struct tarn_column *add_column(struct walk *w, struct tarn_type *type, const char *name, size_t len)
{
    struct tarn_column *column = tarn_type_add_column(type, name, len);

    w->pq->oom = w->pq->oom || !column;
    return column;
}

static bool add_leaf(struct walk *w, const struct tarn_pq_element *element, struct tarn_type *type)
{
    struct tarn_parquet *out = w->pq->out;
    struct tarn_parquet_column *column = &out->columns[out->column_count];

    if (!tarn_pq_leaf_type(w->pq, element, type))
        return false;
    w->pq->leaves[out->column_count] = (struct tarn_pq_leaf){ .element = element };
    *column = (struct tarn_parquet_column){ .path = strdup(w->path.data), .repeated = w->repeats > 0 };
    out->column_count++;
    w->pq->oom = !column->path;
    return column->path != NULL;
}

/* The children of a group, each a column of the struct. */
static bool fill_struct(struct walk *w, const struct tarn_pq_element *group, struct tarn_type *type)
{
    type->kind = TARN_T_STRUCT;
    for (int64_t i = 0; i < group->children; i++) {
        size_t before = 0;
        const struct tarn_pq_element *element = enter(w, &before);
        if (!element)
            return false;
        struct tarn_column *column =
            add_column(w, type, (const char *)element->name.data, element->name.len);
        if (!column || !fill_field(w, element, column))
            return false;
        leave(w, element, before);
    }
    return true;
}

/* The next element as the only content of a column that is already there: an element, key or value. */
static bool fill_member(struct walk *w, struct tarn_type *type, const char *name)
{
    size_t before = 0;
    const struct tarn_pq_element *element = enter(w, &before);
    struct tarn_column *column = element ? add_column(w, type, name, strlen(name)) : NULL;

    if (!column || !fill_field(w, element, column))
        return false;
    leave(w, element, before);
    return true;
}

static bool name_is(const struct tarn_pq_element *element, const char *name, size_t len)
{
    return element->name.len == len && memcmp(element->name.data, name, len) == 0;
}

/* "array", or the list's name and "_tuple": the old Avro and Thrift writers repeat the element itself. */
static bool is_old_element(const struct tarn_pq_element *list, const struct tarn_pq_element *repeated)
{
    size_t len = list->name.len;

    if (name_is(repeated, "array", strlen("array")))
        return true;
    return repeated->name.len == len + strlen("_tuple") &&
           memcmp(repeated->name.data, list->name.data, len) == 0 &&
           memcmp(repeated->name.data + len, "_tuple", strlen("_tuple")) == 0;
}

/* Two levels (the repeated element is the list's element) or three (it only wraps it)? */
static bool wraps_element(const struct walk *w, const struct tarn_pq_element *list,
                          const struct tarn_pq_element *repeated)
{
    if (repeated->physical >= 0 || repeated->children != 1 || is_old_element(list, repeated))
        return false;
    return w->at < w->pq->element_count && w->pq->elements[w->at].repetition != TARN_PQ_REPEATED;
}

/* The type of a leaf or group, its own repetition left aside. */
static bool fill_type(struct walk *w, const struct tarn_pq_element *element, struct tarn_type *type);

static bool fill_list(struct walk *w, const struct tarn_pq_element *list, struct tarn_type *type)
{
    size_t before = 0;
    const struct tarn_pq_element *repeated = enter(w, &before);

    type->kind = TARN_T_LIST;
    if (!repeated)
        return false;
    if (wraps_element(w, list, repeated)) {
        if (!fill_member(w, type, "element"))
            return false;
    } else {
        struct tarn_column *column = add_column(w, type, "element", strlen("element"));
        if (!column)
            return false;
        column->nullable = false;
        if (!fill_type(w, repeated, &column->type))
            return false;
    }
    leave(w, repeated, before);
    return true;
}

static bool fill_map(struct walk *w, struct tarn_type *type)
{
    size_t before = 0;
    const struct tarn_pq_element *repeated = enter(w, &before);

    type->kind = TARN_T_MAP;
    if (!repeated || !fill_member(w, type, "key") || !fill_member(w, type, "value"))
        return false;
    type->fields[0].nullable = false;
    leave(w, repeated, before);
    return true;
}

static bool fill_type(struct walk *w, const struct tarn_pq_element *element, struct tarn_type *type)
{
    const struct tarn_pq_element *next = w->at < w->pq->element_count ? &w->pq->elements[w->at] : NULL;
    bool wraps = element->children == 1 && next && next->repetition == TARN_PQ_REPEATED;

    if (element->physical >= 0)
        return add_leaf(w, element, type);
    if (wraps && element->logical == TARN_PQ_LIST)
        return fill_list(w, element, type);
    if (wraps && element->logical == TARN_PQ_MAP && next->physical < 0 && next->children == 2)
        return fill_map(w, type);
    return fill_struct(w, element, type);
}

/* A repeated field without a list around it is a list of required elements. */
static bool fill_field(struct walk *w, const struct tarn_pq_element *element, struct tarn_column *column)
{
    if (element->children < 0 || element->children > (int64_t)w->pq->element_count)
        return tarn_pq_corrupt(w->pq, "a group of the schema has %lld columns", (long long)element->children);
    column->nullable = element->repetition == TARN_PQ_OPTIONAL;
    if (element->repetition != TARN_PQ_REPEATED)
        return fill_type(w, element, &column->type);
    column->type.kind = TARN_T_LIST;
    struct tarn_column *item = add_column(w, &column->type, "element", strlen("element"));
    if (!item)
        return false;
    item->nullable = false;
    return fill_type(w, element, &item->type);
}

static bool fill_root(struct walk *w)
{
    const struct tarn_pq_element *root = &w->pq->elements[w->at++];

    if (root->physical >= 0 || root->children < 0)
        return tarn_pq_corrupt(w->pq, "the schema's root is no group");
    if (!fill_struct(w, root, &w->pq->out->schema->root))
        return false;
    if (w->at != w->pq->element_count)
        return tarn_pq_corrupt(w->pq, "the schema has elements that belong to no group");
    return true;
}

bool tarn_pq_schema(struct tarn_pq *pq)
{
    struct walk w = { .pq = pq };

    if (pq->element_count == 0)
        return tarn_pq_corrupt(pq, "the footer holds no schema");
    pq->out->schema = calloc(1, sizeof *pq->out->schema);
    pq->out->columns = calloc(pq->element_count, sizeof *pq->out->columns);
    pq->leaves = calloc(pq->element_count, sizeof *pq->leaves);
    pq->oom = !pq->out->schema || !pq->out->columns || !pq->leaves;
    bool ok = !pq->oom && fill_root(&w);
    tarn_buf_done(&w.path);
    return ok;
}
