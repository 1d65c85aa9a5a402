/* data_dir.h - the folder of the database: made when missing, never on a network file system,
 * and held by one process at a time through a flock on <data>/lock. serve, migrate and every
 * --data command take it before they open the database. */
#ifndef TARN_CONFIG_DATA_DIR_H
#define TARN_CONFIG_DATA_DIR_H
#include "base/err.h"
#include "base/own.h"

#define TARN_DATABASE_FILE "tarn.sqlite"

struct tarn_data_dir;
/* TARN_INVALID: a network file system, or another process holds it (the detail names its pid). Else
 * TARN_INTERNAL with the system's words. */
TARN_MUST tarn_code tarn_data_dir_open(const char *path, struct tarn_data_dir **out, struct tarn_err *err);
/* Lets the lock go. NULL is fine. */
void tarn_data_dir_free(struct tarn_data_dir *dir);
TARN_DEFINE_AUTO(data_dir, struct tarn_data_dir)
const char *tarn_data_dir_database(const struct tarn_data_dir *dir); /* path of the database file */
#endif
