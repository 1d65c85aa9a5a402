/* readers.c - every thread that reads has a connection of its own, so that no read waits for
 * another, nor for the writer. It comes into being with the thread's first read and ends with
 * the thread or the store, whichever is first. */
#include "catalog/sqlite/internal.h"

struct reader {
    struct tarn_sqlite_conn *conn;
    struct tarn_sqlite_readers *readers;
    struct reader *prev, *next; /* under readers->lock */
};

struct tarn_sqlite_readers {
    pthread_key_t key;
    pthread_mutex_t lock;
    struct reader *first; /* under lock */
};

static void reader_free(struct reader *reader)
{
    tarn_sqlite_conn_free(reader->conn);
    free(reader);
}

static void forget(struct reader *reader)
{
    struct tarn_sqlite_readers *readers = reader->readers;
    pthread_mutex_lock(&readers->lock);
    if (reader->prev)
        reader->prev->next = reader->next;
    else
        readers->first = reader->next;
    if (reader->next)
        reader->next->prev = reader->prev;
    pthread_mutex_unlock(&readers->lock);
    reader_free(reader);
}

static void thread_ends(void *reader) { forget(reader); }

tarn_code tarn_sqlite_readers_new(struct tarn_sqlite_store *store, struct tarn_err *err)
{
    struct tarn_sqlite_readers *readers = calloc(1, sizeof *readers);
    if (!readers)
        return tarn_fail_oom(err);
    if (pthread_key_create(&readers->key, thread_ends) != 0) {
        free(readers);
        return tarn_fail(err, TARN_INTERNAL, "too many stores are open in this process");
    }
    pthread_mutex_init(&readers->lock, NULL);
    store->readers = readers;
    return TARN_OK;
}

void tarn_sqlite_readers_free(struct tarn_sqlite_readers *readers)
{
    if (!readers)
        return;
    (void)pthread_key_delete(readers->key);
    for (struct reader *r = readers->first; r;) {
        struct reader *next = r->next;
        reader_free(r);
        r = next;
    }
    pthread_mutex_destroy(&readers->lock);
    free(readers);
}

static tarn_code reader_new(struct tarn_sqlite_store *store, struct reader **out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_sqlite_conn_freep))) struct tarn_sqlite_conn *conn = NULL;
    tarn_code code = tarn_sqlite_conn_open(store, false, &conn, err);
    if (code == TARN_OK)
        code = tarn_sqlite_conn_prepare(conn, err);
    if (code != TARN_OK)
        return code;

    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return tarn_fail_oom(err);
    struct tarn_sqlite_readers *readers = store->readers;
    *reader = (struct reader){ .conn = tarn_take(&conn), .readers = readers };
    pthread_mutex_lock(&readers->lock);
    reader->next = readers->first;
    if (reader->next)
        reader->next->prev = reader;
    readers->first = reader;
    pthread_mutex_unlock(&readers->lock);
    (void)pthread_setspecific(readers->key, reader);
    *out = reader;
    return TARN_OK;
}

void tarn_sqlite_rest(struct tarn_store *base)
{
    pthread_key_t key = tarn_sqlite_store_of(base)->readers->key;
    struct reader *reader = pthread_getspecific(key);
    if (!reader)
        return;
    (void)pthread_setspecific(key, NULL);
    forget(reader);
}

tarn_code tarn_sqlite_read(struct tarn_store *base, tarn_tx_fn *fn, void *ctx, struct tarn_err *err)
{
    struct tarn_sqlite_store *store = tarn_sqlite_store_of(base);
    struct reader *reader = pthread_getspecific(store->readers->key);
    tarn_code code = reader ? TARN_OK : reader_new(store, &reader, err);
    if (code != TARN_OK)
        return code;

    struct tarn_sqlite_conn *conn = reader->conn;
    assert(sqlite3_get_autocommit(conn->db)); /* a read inside a read would end the outer one's snapshot */
    int rc = tarn_sqlite_control(conn, TARN_SQLITE_BEGIN);
    if (rc == SQLITE_OK)
        code = fn(&conn->tx, ctx, err);
    else
        code = tarn_sqlite_fail(conn, rc, err);
    if (!sqlite3_get_autocommit(conn->db))
        (void)tarn_sqlite_control(conn, TARN_SQLITE_COMMIT);
    if (conn->sick || !sqlite3_get_autocommit(conn->db))
        tarn_sqlite_rest(base);
    return code;
}
