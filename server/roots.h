/* roots.h - the storage roots of the configuration, made fit to serve. */
#ifndef TARN_SERVER_ROOTS_H
#define TARN_SERVER_ROOTS_H
#include "config/config.h"

/* Without roots: <data>/lake, made when missing. A root that contains the data folder, or lies in it
 * elsewhere than in <data>/lake, is refused: tables there would lie beside the database. So
 * are two roots that a symbolic link makes the same folder, or one inside the other. */
TARN_MUST tarn_code tarn_roots_prepare(struct tarn_config *config, struct tarn_err *err);
/* A line of the log for each root that is no folder that can be
 * read: it may be mounted later, so that the start goes on. */
void tarn_roots_warn(const struct tarn_config *config);
#endif
