/* view_names.c - views renamed and dropped: rows alone. */
#include "base/time.h"
#include "lake/iceberg_names.h"
#include "lake/views.h"
#include <string.h>

static tarn_code rename_change(struct tarn_tx *tx, void *state, struct tarn_err *err)
{
    const struct tarn_view_rename_use *use = state;
    TARN_AUTO(view) struct tarn_view *view = NULL;
    tarn_code code = tx->ops->views.get(tx, use->from.namespace_, use->from.name, &view, err);

    if (code == TARN_OK)
        code = tarn_namespace_ensure(tx, use->to.namespace_, err);
    if (code == TARN_OK)
        code = tarn_name_free(tx, use->to.namespace_, use->to.name, err);
    if (code != TARN_OK)
        return code;
    free(view->namespace_);
    free(view->name);
    view->namespace_ = strdup(use->to.namespace_);
    view->name = strdup(use->to.name);
    if (!view->namespace_ || !view->name)
        return tarn_fail_oom(err);
    view->changed_at = use->now_ms ? use->now_ms : tarn_now_ms();
    return tx->ops->views.update(tx, view, err);
}

static tarn_code drop_change(struct tarn_tx *tx, void *state, struct tarn_err *err)
{
    const struct tarn_view_drop_use *use = state;
    TARN_AUTO(view) struct tarn_view *view = NULL;
    tarn_code code = tx->ops->views.get(tx, use->ident.namespace_, use->ident.name, &view, err);

    return code == TARN_OK ? tx->ops->views.remove(tx, view->id, err) : code;
}

const struct tarn_use tarn_view_rename = { .name = "view rename",
                                           .size = sizeof(struct tarn_view_rename_use),
                                           .change = rename_change };
const struct tarn_use tarn_view_drop = { .name = "view drop",
                                         .size = sizeof(struct tarn_view_drop_use),
                                         .change = drop_change };
