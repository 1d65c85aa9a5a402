/* texts.c - the reference's words for what is missing or taken, where the request tells of what: clients show them, and tests
 * compare them. */
#include "api/iceberg/iceberg.h"
#include <stdio.h>
#include <string.h>

/* Levels as they are, joined by dots. */
static void print_levels(const json_t *levels, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < json_array_size(levels) && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? "." : "",
                                 json_string_value(json_array_get(levels, i)));
}

static void print_segment(const char *segment, char *out, size_t size)
{
    snprintf(out, size, "%s", segment);
    for (char *c = out; *c; c++)
        if (*c == TARN_ICEBERG_SEPARATOR)
            *c = '.';
}

static void print_identifier(const json_t *identifier, char *out, size_t size)
{
    char levels[TARN_NAMESPACE_MAX + 1];
    const char *name = json_string_value(json_object_get(identifier, "name"));

    print_levels(json_object_get(identifier, "namespace"), levels, sizeof levels);
    snprintf(out, size, "%s.%s", levels, name ? name : "");
}

struct said { char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_DOTTED_MAX], to[TARN_DOTTED_MAX]; bool renames, is_view; };

/* What the request is about, by its path, else by its body. */
static void read_request(const struct tarn_request *req, struct said *said)
{
    const json_t *body = req->json;
    const char *name = req->arg_count > 1 ? req->arg[1] : json_string_value(json_object_get(body, "name"));

    said->renames = json_object_get(body, "source") != NULL;
    said->is_view = strstr(req->route->path, "view") != NULL;
    if (said->renames) {
        print_identifier(json_object_get(body, "source"), said->name, sizeof said->name);
        print_identifier(json_object_get(body, "destination"), said->to, sizeof said->to);
        print_levels(json_object_get(json_object_get(body, "destination"), "namespace"), said->namespace_,
                     sizeof said->namespace_);
        return;
    }
    const char *parent = tarn_query(req, "parent");
    if (req->arg_count > 0 || parent)
        print_segment(parent ? parent : req->arg[0], said->namespace_, sizeof said->namespace_);
    else
        print_levels(json_object_get(body, "namespace"), said->namespace_, sizeof said->namespace_);
    snprintf(said->name, sizeof said->name, "%.*s%s%s", TARN_NAMESPACE_MAX, said->namespace_, name ? "." : "", name ? name : "");
}

static bool say_taken(const struct said *said, bool by_view, char *out, size_t size)
{
    const char *what = by_view ? "View" : "Table";

    if (said->renames)
        snprintf(out, size, "Cannot rename %s to %s. %s already exists", said->name, said->to, what);
    else if (by_view != said->is_view)
        snprintf(out, size, "%s with same name already exists: %s", what, said->name);
    else
        snprintf(out, size, "%s already exists: %s", what, said->name);
    return true;
}

bool tarn_iceberg_say(const struct tarn_request *req, tarn_code code, char *out, size_t size)
{
    struct said said = { .is_view = false };

    if (!req->route)
        return false;
    read_request(req, &said);
    switch (code) {
    case TARN_NAMESPACE_NOT_FOUND:
        snprintf(out, size, "Namespace does not exist: %s", said.namespace_);
        return said.namespace_[0] != '\0';
    case TARN_NAMESPACE_EXISTS:
        snprintf(out, size, "Namespace already exists: %s", said.namespace_);
        return true;
    case TARN_NAMESPACE_NOT_EMPTY:
        snprintf(out, size, "Namespace %s is not empty", said.namespace_);
        return true;
    case TARN_TABLE_NOT_FOUND:
        snprintf(out, size, "Table does not exist: %s", said.name);
        return req->arg_count > 1 || said.renames;
    case TARN_VIEW_NOT_FOUND:
        snprintf(out, size, "View does not exist: %s", said.name);
        return req->arg_count > 1 || said.renames;
    case TARN_TABLE_EXISTS:
        return say_taken(&said, false, out, size);
    case TARN_VIEW_EXISTS:
        return say_taken(&said, true, out, size);
    default:
        return false;
    }
}
