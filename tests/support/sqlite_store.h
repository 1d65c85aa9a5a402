/* sqlite_store.h - the catalog of one folder as the SQLite adapter opens it. */
#ifndef TARN_TESTS_SQLITE_STORE_H
#define TARN_TESTS_SQLITE_STORE_H
struct tarn_store;

/* <folder>/catalog.db, made or carried over where it has to be; owned. A refusal fails the test. */
struct tarn_store *tarn_sqlite_store(const char *folder);
#endif
