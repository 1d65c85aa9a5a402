/* iceberg_place.h - where a new Iceberg table or view lies. */
#ifndef TARN_LAKE_ICEBERG_PLACE_H
#define TARN_LAKE_ICEBERG_PLACE_H
#include "lake/iceberg.h"

/* `asked` as it was asked for (without trailing slashes), or, NULL, <location of the namespace>/<name>, else <first root>/<levels>/
 * <name>, with a number where that is taken; local paths as file:// URIs. Allowed by the roots of server and token. *out owned.
 * TARN_NAMESPACE_NOT_FOUND, TARN_LOCATION_NOT_ALLOWED. Blocks. */
TARN_MUST tarn_code tarn_iceberg_place(struct tarn_lake *lake, const struct tarn_ident *ident, const char *asked,
                                       const struct tarn_iceberg_who *who, char **out, struct tarn_err *err);
#endif
