/* out.h - what people read: aligned tables, and cells that cannot play with the terminal. */
#ifndef TARN_CLI_OUT_H
#define TARN_CLI_OUT_H
#include "base/buf.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* A table that is aligned when it is printed, of 16 columns at the most. Fill row by row, cell by cell. */
struct tarn_grid {
    const char *const *titles; /* ended by NULL */
    struct tarn_buf cells;     /* texts, each with its NUL */
    size_t count;              /* cells */
};
/* Control characters are shown as '?'; NULL and JSON null as "-". */
void tarn_grid_text(struct tarn_grid *grid, const char *text);
/* A member of `object`: texts as they are, numbers, true and false as JSON writes them. */
void tarn_grid_member(struct tarn_grid *grid, const json_t *object, const char *key);
void tarn_grid_print(const struct tarn_grid *grid); /* to stdout */
void tarn_grid_done(struct tarn_grid *grid);

/* The same at once, of an array of objects. */
struct tarn_column { const char *title, *member; bool is_size; };
#define TARN_COLUMN(title, member)      { title, member, false }
#define TARN_COLUMN_SIZE(title, member) { title, member, true } /* shown as "2.1 TB" */
void tarn_rows_print(const struct tarn_column *columns, size_t count, const json_t *rows);

/* A member as a line shows it, in a ring of 8 buffers. */
const char *tarn_show(const json_t *object, const char *key);
/* Print text with control characters as '?', to stdout or elsewhere. */
void tarn_print_safe(const char *text);
void tarn_print_safe_to(FILE *stream, const char *text);
#endif
