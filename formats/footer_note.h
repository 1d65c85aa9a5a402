/* footer_note.h - what a scan keeps of one file's footer: how it differs from the schema, which columns hold nothing. Files of one
 * writer mostly share one note, so that a footer that was read once need not be read again for some bytes a file. */
#ifndef TARN_FORMATS_FOOTER_NOTE_H
#define TARN_FORMATS_FOOTER_NOTE_H
#include "catalog/schema.h"
#include "formats/parquet/parquet.h"

struct tarn_noted_drift {
    enum tarn_drift_kind kind;
    char *column;            /* dotted, owned */
    char *possible_rename;   /* owned or NULL */
    char registered[64], found[64]; /* types as text, "" when there is none */
    bool severe;
};
struct tarn_footer_note {
    size_t holders;                 /* who hold it; one thread at a time */
    enum tarn_parquet_state state;
    char reason[128];               /* when it is not OK */
    bool has_rows;
    struct tarn_noted_drift *drifts; /* owned */
    size_t drift_count;
    char **nulls;                   /* top columns without a value, where there are rows; owned, each owned */
    size_t null_count;
};
/* How a file is held to the schema: the current one, or through `map` the one that it was written with. */
struct tarn_footer_rule {
    const struct tarn_schema *schema;   /* NULL: there is none, or it is too long ago */
    const struct tarn_schema_map *map;  /* NULL: the current one */
    const json_t *partition_keys;       /* JSON array or NULL */
};
/* One holder: the caller. TARN_INTERNAL: out of memory. Pure; any thread. */
TARN_MUST tarn_code tarn_footer_note_make(const struct tarn_parquet *parquet, const char *path,
                                          const struct tarn_footer_rule *rule, struct tarn_footer_note **out,
                                          struct tarn_err *err);
bool tarn_footer_note_equal(const struct tarn_footer_note *a, const struct tarn_footer_note *b);
struct tarn_footer_note *tarn_footer_note_hold(struct tarn_footer_note *note); /* NULL is fine */
void tarn_footer_note_drop(struct tarn_footer_note *note);                     /* NULL is fine */
#endif
