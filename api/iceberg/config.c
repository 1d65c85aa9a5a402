/* config.c - GET /iceberg/v1/config: what a client finds here. Only what is listed is used by clients that read the list. */
#include "api/iceberg/iceberg.h"
#include "config/config.h"
#include <string.h>

static tarn_code check_warehouse(const struct tarn_request *req, struct tarn_err *err)
{
    const char *wanted = tarn_query(req, "warehouse");
    const char *ours = req->app->config ? req->app->config->warehouse : NULL;

    if (!wanted || !*wanted || !ours || !*ours || strcmp(wanted, ours) == 0)
        return TARN_OK;
    tarn_code code = tarn_fail(err, TARN_NOT_FOUND, "No such warehouse: %.200s", wanted);
    (void)tarn_err_add(err, "exception", json_string("NoSuchWarehouseException"));
    return code;
}

/* Templates of the specification, from the route table itself. */
static void write_endpoint(struct tarn_jsonw *w, const struct tarn_route *route)
{
    char text[160];

    if (strcmp(route->path, "/iceberg/v1/config") == 0 || strcmp(route->path, "/iceberg/v1/oauth/tokens") == 0)
        return;
    snprintf(text, sizeof text, "%s /v1/{prefix}%s", route->method, route->path + strlen("/iceberg/v1"));
    tarn_jsonw_str(w, text);
}

tarn_code tarn_iceberg_config(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);
    tarn_code code = check_warehouse(req, err);

    if (code != TARN_OK)
        return code;
    reply->status = 200;
    tarn_jsonw_object(&w);
    tarn_jsonw_key(&w, "defaults");
    tarn_jsonw_object(&w);
    tarn_jsonw_object_end(&w);
    tarn_jsonw_key(&w, "overrides");
    tarn_jsonw_object(&w);
    tarn_jsonw_object_end(&w);
    tarn_jsonw_key(&w, "endpoints");
    tarn_jsonw_array(&w);
    for (size_t i = 0; i < tarn_routes_count; i++)
        if (tarn_routes[i].face == TARN_FACE_ICEBERG)
            write_endpoint(&w, &tarn_routes[i]);
    tarn_jsonw_array_end(&w);
    tarn_jsonw_kstr(&w, "idempotency-key-lifetime", "PT24H");
    tarn_jsonw_object_end(&w);
    return tarn_buf_check(&reply->body, err);
}
