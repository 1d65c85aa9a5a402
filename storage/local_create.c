/* local_create.c - many small files at once. What takes the time is the disk's answer to each fsync, and a
 * disk answers many at once as fast as one: a few threads wait for it side by side. The names then come one
 * after the other, so that a crash leaves a prefix of them, and the folder is fsynced once. */
#include "storage/local.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS_MAX = 8 };

struct create_all {
    struct tarn_place *place;
    const char *folder;
    struct tarn_new_object *objects;
    size_t count;
    struct tarn_writer **writers; /* owned array of owned ones */
    atomic_size_t next;           /* the first that no thread has taken */
    pthread_mutex_t lock;         /* of fault: the first one that any thread met */
    struct tarn_err fault;
    tarn_code code;
};

static void create_all_done(struct create_all *c)
{
    for (size_t i = 0; c->writers && i < c->count; i++)
        tarn_writer_free(c->writers[i]);
    free(c->writers);
    tarn_err_done(&c->fault);
    pthread_mutex_destroy(&c->lock);
}

static tarn_code prepare(struct create_all *c, size_t i, struct tarn_err *err)
{
    const struct tarn_new_object *object = &c->objects[i];
    __attribute__((cleanup(tarn_mem_freep))) char *path = NULL;
    if (asprintf(&path, "%s/%s", c->folder, object->name) < 0) {
        path = NULL;
        return tarn_fail_oom(err);
    }
    tarn_code code = tarn_local_writer(c->place, path, &c->writers[i], err);
    if (code == TARN_OK)
        code = tarn_local_writer_add(c->writers[i], object->data, object->len, err);
    return code == TARN_OK ? tarn_local_writer_sync(c->writers[i], err) : code;
}

static void *prepare_many(void *arg)
{
    struct create_all *c = arg;
    for (size_t i = atomic_fetch_add(&c->next, 1); i < c->count; i = atomic_fetch_add(&c->next, 1)) {
        TARN_ERR(fault);
        tarn_code code = prepare(c, i, &fault);
        if (code == TARN_OK)
            continue;
        atomic_store(&c->next, c->count); /* the others need not begin */
        pthread_mutex_lock(&c->lock);
        if (c->code == TARN_OK) {
            c->code = code;
            tarn_err_move(&c->fault, &fault);
        }
        pthread_mutex_unlock(&c->lock);
    }
    return NULL;
}

/* The calling thread works too; fewer helpers than wished only take longer. */
static void prepare_all(struct create_all *c)
{
    pthread_t threads[THREADS_MAX - 1];
    size_t started = 0, wanted = c->count < THREADS_MAX ? c->count - 1 : THREADS_MAX - 1;
    while (started < wanted && pthread_create(&threads[started], NULL, prepare_many, c) == 0)
        started++;
    prepare_many(c);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

static tarn_code name_all(struct create_all *c, struct tarn_err *err)
{
    struct tarn_writer *last = NULL;
    for (size_t i = 0; i < c->count; i++) {
        TARN_ERR(fault);
        tarn_code code = tarn_local_writer_name(c->writers[i], TARN_PUT_CREATE, &fault);
        c->objects[i].exists = code == TARN_PRECONDITION_FAILED;
        if (code == TARN_OK)
            last = c->writers[i];
        else if (!c->objects[i].exists)
            return tarn_err_move(err, &fault);
    }
    return last ? tarn_local_writer_settle(last, err) : TARN_OK;
}

tarn_code tarn_local_create_all(struct tarn_place *place, const char *folder, struct tarn_new_object *objects,
                                size_t count, struct tarn_err *err)
{
    __attribute__((cleanup(create_all_done))) struct create_all c = { .place = place,
                                                                      .folder = folder,
                                                                      .objects = objects,
                                                                      .count = count,
                                                                      .lock = PTHREAD_MUTEX_INITIALIZER };
    if (count == 0)
        return TARN_OK;
    c.writers = calloc(count, sizeof(*c.writers));
    if (!c.writers)
        return tarn_fail_oom(err);
    prepare_all(&c);
    return c.code == TARN_OK ? name_all(&c, err) : tarn_err_move(err, &c.fault);
}
