/* own.h - ownership bound to the scope.
 *   TARN_AUTO(table) struct tarn_table *t = NULL;   freed when t leaves scope
 *   *out = tarn_take(&t);                           handed over, t is NULL now */
#ifndef TARN_BASE_OWN_H
#define TARN_BASE_OWN_H
#include <stdlib.h>

#define TARN_AUTO(name) __attribute__((cleanup(tarn_##name##_freep)))
/* For a plain value whose contents are owned: TARN_AUTO_DONE(buf) struct tarn_buf b = {0}; */
#define TARN_AUTO_DONE(name) __attribute__((cleanup(tarn_##name##_done)))
#define TARN_DEFINE_AUTO(name, type)                                                               \
    static inline void tarn_##name##_freep(type **pp)                                              \
    {                                                                                              \
        tarn_##name##_free(*pp);                                                                   \
        *pp = NULL;                                                                                \
    }
#define tarn_take(pp)                                                                              \
    __extension__({                                                                                \
        __typeof__(*(pp)) tarn_p_ = *(pp);                                                         \
        *(pp) = NULL;                                                                              \
        tarn_p_;                                                                                   \
    })
#define TARN_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline void tarn_mem_freep(void *pp)
{
    void **p = pp;
    free(*p);
    *p = NULL;
}
#endif
