/* out.c - tables, lines and errors on the terminal. Names come from other people's
 * folders, so that nothing is printed before its control characters are taken out. */
#include "cli/out.h"
#include "base/json.h"
#include "base/time.h"
#include "cli/command.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* C0, DEL and C1 (two bytes in UTF-8) become '?'. */
static void add_safe(struct tarn_buf *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        bool c1 = p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f;
        tarn_buf_addc(out, *p < 0x20 || *p == 0x7f || c1 ? '?' : (char)*p);
        p += c1;
    }
}

void tarn_print_safe_to(FILE *stream, const char *text)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };

    add_safe(&out, text);
    fputs(out.data ? out.data : "", stream);
}

void tarn_print_safe(const char *text) { tarn_print_safe_to(stdout, text); }

void tarn_grid_text(struct tarn_grid *grid, const char *text)
{
    add_safe(&grid->cells, text && *text ? text : "-");
    tarn_buf_add(&grid->cells, "", 1);
    grid->count++;
}

const char *tarn_show(const json_t *object, const char *key)
{
    static char ring[8][1024];
    static unsigned next;
    char *slot = ring[next++ % 8];
    const json_t *value = json_object_get(object, key);
    TARN_AUTO(mem)
    char *text = value && !json_is_string(value) && !json_is_null(value) ? tarn_json_text(value) : NULL;

    snprintf(slot, sizeof ring[0], "%s", json_is_string(value) ? json_string_value(value) : text ? text : "-");
    return slot;
}

void tarn_grid_member(struct tarn_grid *grid, const json_t *object, const char *key)
{
    tarn_grid_text(grid, tarn_show(object, key));
}

#define COLUMNS_MAX 16
#define WIDTH_MAX 60 /* a longer cell moves the rest of its own row, not that of all */

/* Columns on the terminal, as far as one character is one column. */
static size_t width(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void print_cell(const char *text, size_t column, bool last)
{
    fputs(text, stdout);
    if (last)
        fputc('\n', stdout);
    else
        printf("%*s", width(text) < column ? (int)(column - width(text)) + 2 : 2, "");
}

void tarn_grid_print(const struct tarn_grid *grid)
{
    size_t widths[COLUMNS_MAX] = { 0 }, columns = 0;

    for (; columns < TARN_COUNT(widths) && grid->titles[columns]; columns++)
        widths[columns] = width(grid->titles[columns]);
    const char *cell = grid->cells.data;
    for (size_t i = 0; i < grid->count; i++, cell += strlen(cell) + 1)
        if (width(cell) > widths[i % columns] && width(cell) <= WIDTH_MAX)
            widths[i % columns] = width(cell);
    for (size_t i = 0; i < columns; i++)
        print_cell(grid->titles[i], widths[i], i + 1 == columns);
    cell = grid->cells.data;
    for (size_t i = 0; i < grid->count; i++, cell += strlen(cell) + 1)
        print_cell(cell, widths[i % columns], i % columns + 1 == columns);
}

void tarn_grid_done(struct tarn_grid *grid) { tarn_buf_done(&grid->cells); }

static void add_size(struct tarn_grid *grid, const json_t *value)
{
    char text[TARN_TIME_TEXT];

    tarn_grid_text(grid, json_is_integer(value) ? tarn_size_format(json_integer_value(value), text) : NULL);
}

void tarn_rows_print(const struct tarn_column *columns, size_t count, const json_t *rows)
{
    const char *titles[COLUMNS_MAX + 1] = { NULL };
    struct tarn_grid grid = { .titles = titles };

    for (size_t k = 0; k < count; k++)
        titles[k] = columns[k].title;
    for (size_t i = 0; i < json_array_size(rows) * count; i++) {
        const json_t *row = json_array_get(rows, i / count);
        const struct tarn_column *column = &columns[i % count];
        if (column->is_size)
            add_size(&grid, json_object_get(row, column->member));
        else
            tarn_grid_member(&grid, row, column->member);
    }
    tarn_grid_print(&grid);
    tarn_grid_done(&grid);
}

int tarn_cli_fail(const struct tarn_err *err, int exit_code)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };

    add_safe(&out, err->field);
    if (err->field[0])
        tarn_buf_adds(&out, ": ");
    add_safe(&out, err->detail);
    fprintf(stderr, "tarn: %s\n", out.data ? out.data : "out of memory");
    return exit_code;
}

int tarn_cli_usage(const struct tarn_command *command, const char *fmt, ...)
{
    va_list ap;

    fputs("tarn: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\nusage: tarn %s%s%s [flags]; `tarn %s --help` tells more\n", command->name,
            *command->takes ? " " : "", command->takes, command->name);
    return TARN_EXIT_USAGE;
}
