/* list.h - inside formats/iceberg/: a TARN_ICEBERG_LIST grows by an item, and lets go of them all. `drop` frees what an item owns. */
#ifndef TARN_FORMATS_ICEBERG_LIST_H
#define TARN_FORMATS_ICEBERG_LIST_H
#include "base/err.h"
#include <stddef.h>
#include <stdlib.h>

/* Room for one more item; NULL: no memory, the list is as it was. */
static inline void *tarn_iceberg_room(void *items, size_t *cap, size_t count, size_t size)
{
    if (count < *cap)
        return items;
    size_t wanted = *cap == 0 ? 8 : 2 * *cap;
    void *more = realloc(items, wanted * size);
    if (more)
        *cap = wanted;
    return more;
}

/* A tarn_code; `item`, a variable, is taken over, also on failure. */
#define TARN_ICEBERG_ADD(list, item, drop, err)                                                                            \
    __extension__({                                                                                                        \
        void *room = tarn_iceberg_room((list)->items, &(list)->cap, (list)->count, sizeof *(list)->items);                 \
        if (room) {                                                                                                        \
            (list)->items = room;                                                                                          \
            (list)->items[(list)->count++] = (item);                                                                       \
        } else {                                                                                                           \
            drop(&(item));                                                                                                 \
        }                                                                                                                  \
        room ? TARN_OK : tarn_fail_oom(err);                                                                               \
    })

#define TARN_ICEBERG_DROP_ALL(list, drop)                                                                                  \
    do {                                                                                                                   \
        for (size_t i = 0; i < (list)->count; i++)                                                                         \
            drop(&(list)->items[i]);                                                                                       \
        free((list)->items);                                                                                               \
    } while (0)
#endif
