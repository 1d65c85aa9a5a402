/* names.c - namespaces and names as the Iceberg face writes them. A path was split at its slashes and each segment decoded
 * once, alone; levels of a namespace stand in one segment, apart by the unit separator. */
#include "api/iceberg/iceberg.h"
#include "base/hash.h"
#include "formats/iceberg/value.h"
#include <stdio.h>
#include <string.h>

tarn_code tarn_iceberg_namespace(const char *text, const char *field, char out[TARN_NAMESPACE_MAX + 1], struct tarn_err *err)
{
    json_auto_t *levels = json_array();

    for (const char *at = text; levels; at++) {
        size_t len = strcspn(at, (char[]){ TARN_ICEBERG_SEPARATOR, '\0' });
        if (json_array_append_new(levels, json_stringn(at, len)) != 0)
            return tarn_fail_field(err, field, "is no namespace");
        at += len;
        if (*at == '\0')
            return tarn_namespace_from_levels(levels, field, out, err);
    }
    return tarn_fail_oom(err);
}

static tarn_code no_namespace(const char *text, struct tarn_err *err)
{
    char shown[TARN_NAMESPACE_MAX + 1];

    snprintf(shown, sizeof shown, "%s", text);
    for (char *c = shown; *c; c++)
        if (*c == TARN_ICEBERG_SEPARATOR)
            *c = '.';
    return tarn_fail(err, TARN_NAMESPACE_NOT_FOUND, "Namespace does not exist: %.400s", shown);
}

tarn_code tarn_iceberg_path_namespace(const struct tarn_request *req, char out[TARN_NAMESPACE_MAX + 1], struct tarn_err *err)
{
    tarn_code code = tarn_iceberg_namespace(req->arg[0], "namespace", out, err);

    if (code == TARN_OK && !tarn_principal_sees_namespace(&req->who, out))
        return no_namespace(req->arg[0], err);
    return code;
}

/* "ns.table", levels as they are, joined by dots: how the reference prints names. */
static void print(const struct tarn_ident *ident, char out[TARN_DOTTED_MAX])
{
    json_auto_t *levels = tarn_namespace_levels(ident->namespace_);
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < json_array_size(levels); i++)
        used += (size_t)snprintf(out + used, TARN_DOTTED_MAX - used, "%s.", json_string_value(json_array_get(levels, i)));
    (void)snprintf(out + used, TARN_DOTTED_MAX - used, "%s", ident->name);
}

static tarn_code hide(const struct tarn_request *req, tarn_code hidden, const struct tarn_ident *ident, struct tarn_err *err)
{
    char shown[TARN_DOTTED_MAX];

    if (tarn_principal_sees(&req->who, ident->namespace_, ident->name))
        return TARN_OK;
    print(ident, shown);
    return tarn_fail(err, hidden, "%s does not exist: %.400s", hidden == TARN_VIEW_NOT_FOUND ? "View" : "Table", shown);
}

tarn_code tarn_iceberg_path_ident(const struct tarn_request *req, tarn_code hidden, struct tarn_ident *out,
                                  struct tarn_err *err)
{
    tarn_code code = tarn_iceberg_namespace(req->arg[0], "namespace", out->namespace_, err);

    if (code == TARN_OK)
        code = tarn_name_check(req->arg[1], "name", err);
    if (code != TARN_OK)
        return code;
    snprintf(out->name, sizeof out->name, "%s", req->arg[1]);
    return hide(req, hidden, out, err);
}

tarn_code tarn_iceberg_new_ident(const struct tarn_request *req, const char *kind, struct tarn_ident *out,
                                 struct tarn_err *err)
{
    const char *name = NULL;
    tarn_code code = tarn_iceberg_path_namespace(req, out->namespace_, err);

    if (code == TARN_OK)
        code = tarn_iceberg_need_str(req->json, "name", &name, err);
    if (code == TARN_OK)
        code = tarn_name_check(name, "name", err);
    if (code != TARN_OK)
        return code;
    snprintf(out->name, sizeof out->name, "%s", name);
    if (!tarn_principal_sees(&req->who, out->namespace_, out->name))
        return tarn_fail(err, TARN_FORBIDDEN, "the token does not reach %s of this name", kind);
    return TARN_OK;
}

tarn_code tarn_iceberg_body_ident(const struct tarn_request *req, const json_t *identifier, const char *field,
                                  tarn_code hidden, struct tarn_ident *out, struct tarn_err *err)
{
    const json_t *levels = json_object_get(identifier, "namespace");
    const char *name = json_string_value(json_object_get(identifier, "name"));

    if (!json_is_array(levels) || !name)
        return tarn_fail_field(err, field, "Invalid table identifier: it needs a namespace (array of levels) and a name");
    tarn_code code = tarn_namespace_from_levels(levels, field, out->namespace_, err);
    if (code == TARN_OK)
        code = tarn_name_check(name, field, err);
    if (code != TARN_OK)
        return code;
    snprintf(out->name, sizeof out->name, "%s", name);
    return hide(req, hidden, out, err);
}

void tarn_iceberg_write_identifier(struct tarn_jsonw *w, const char *namespace_, const char *name)
{
    json_auto_t *levels = tarn_namespace_levels(namespace_);

    tarn_jsonw_object(w);
    tarn_jsonw_key(w, "namespace");
    tarn_jsonw_json(w, levels);
    tarn_jsonw_kstr(w, "name", name);
    tarn_jsonw_object_end(w);
}

static bool may_use(const void *who, const char *location) { return tarn_principal_may_use(who, location); }

static bool may_see(const void *who, const char *namespace_, const char *name)
{
    return tarn_principal_sees(who, namespace_, name);
}

struct tarn_iceberg_who tarn_iceberg_who_of(const struct tarn_request *req)
{
    return (struct tarn_iceberg_who){ may_use, may_see, &req->who };
}

void tarn_iceberg_mark(const struct tarn_request *req, char out[TARN_ICEBERG_MARK])
{
    const char *parent = tarn_query(req, "parent");
    char hash[TARN_SHA256_HEX], text[TARN_NAMESPACE_MAX + 64];

    snprintf(text, sizeof text, "%s %s", req->route->operation, req->arg_count > 0 ? req->arg[0] : parent ? parent : "");
    tarn_sha256_hex(text, strlen(text), hash);
    snprintf(out, TARN_ICEBERG_MARK, "%.8s", hash);
}

char *tarn_iceberg_token(const char *mark, const char *after)
{
    __attribute__((cleanup(tarn_buf_done))) struct tarn_buf text = { 0 };

    tarn_buf_addf(&text, "%s%s", mark, after);
    return text.failed ? NULL : strdup(text.data);
}

/* A place in one list says nothing about another one. */
static tarn_code take_mark(const struct tarn_request *req, struct tarn_page *page, struct tarn_err *err)
{
    char mark[TARN_ICEBERG_MARK];
    const size_t len = TARN_ICEBERG_MARK - 1;

    tarn_iceberg_mark(req, mark);
    if (strncmp(page->token, mark, len) != 0)
        return tarn_fail(err, TARN_INVALID, "is no token of this list");
    memmove(page->token, page->token + len, strlen(page->token + len) + 1);
    return TARN_OK;
}

tarn_code tarn_iceberg_page(const struct tarn_request *req, struct tarn_page *out, struct tarn_err *err)
{
    const char *token = tarn_query(req, "pageToken");
    tarn_code code = tarn_query_i64(req, "pageSize", 1, INT32_MAX, &out->size, err);

    if (code != TARN_OK || !token || !*token)
        return code;
    code = tarn_page_content(token, &out->token, err);
    if (code == TARN_OK)
        code = take_mark(req, out, err);
    if (code != TARN_OK)
        snprintf(err->field, sizeof err->field, "pageToken");
    return code;
}
