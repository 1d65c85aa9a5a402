/* iceberg_place.h - where a new Iceberg table or view lies. */
#ifndef TARN_LAKE_ICEBERG_PLACE_H
#define TARN_LAKE_ICEBERG_PLACE_H
#include "lake/iceberg.h"

/* `asked` as it was asked for (without trailing slashes), or, NULL, <location of the namespace>/<name>, else <first root>/<levels>/
 * <name>, with a number where that is taken; local paths as file:// URIs. Allowed by the roots of server and token. *out owned.
 * TARN_NAMESPACE_NOT_FOUND, TARN_LOCATION_NOT_ALLOWED. Blocks. */
TARN_MUST tarn_code tarn_iceberg_place(struct tarn_lake *lake, const struct tarn_ident *ident, const char *asked,
                                       const struct tarn_iceberg_who *who, char **out, struct tarn_err *err);
/* The place of a namespace that has no property `location`: <first root>/<levels>, a local one as a file:// URI. *out owned. */
TARN_MUST tarn_code tarn_iceberg_namespace_place(const struct tarn_lake *lake, const char *namespace_, char **out,
                                                 struct tarn_err *err);
/* Do the roots of the server and of the token hold it? TARN_LOCATION_NOT_ALLOWED. */
TARN_MUST tarn_code tarn_iceberg_allowed(const struct tarn_lake *lake, const char *location, const struct tarn_iceberg_who *who,
                                         struct tarn_err *err);
/* May the metadata file be written where `write.metadata.path` wants it, and may the folders that the properties name be this
 * table's? `before`: the properties as they were, JSON text, or NULL; what stays as it was is not asked again. `own_id`: 0 for a
 * new table; `file`: NULL when none is written. TARN_LOCATION_NOT_ALLOWED, TARN_LOCATION_TAKEN. Blocks. */
TARN_MUST tarn_code tarn_iceberg_check_paths(struct tarn_lake *lake, const struct tarn_iceberg_meta *meta, const char *file,
                                             const struct tarn_iceberg_who *who, int64_t own_id, const char *before,
                                             struct tarn_err *err);
/* Is it a metadata file of this table: in its folder, or under its write.metadata.path where no other table lies? A log that was
 * registered may name any file. Blocks. */
bool tarn_iceberg_owns_file(struct tarn_lake *lake, const struct tarn_iceberg_meta *meta, int64_t own_id, const char *file);
#endif
