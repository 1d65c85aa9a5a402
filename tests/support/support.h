/* support.h - what every test may use: a temporary folder of its own and whole files in and out. A helper
 * that fails ends the test at once. */
#ifndef TARN_TESTS_SUPPORT_H
#define TARN_TESTS_SUPPORT_H
#include <stdbool.h>
#include <stddef.h>

/* A fresh folder below $TMPDIR or /tmp. It is removed when the test's process ends; call tarn_tmp_remove in a
 * .fini to have it gone earlier. The text is owned by the helper and stays valid until then. */
const char *tarn_tmp(void);
void tarn_tmp_remove(void);
/* "<folder>/<name>" in a ring of 16 buffers. */
const char *tarn_path(const char *folder, const char *name);

/* Does `text` (NULL: no) contain `part`? Criterion takes int conditions, so a bare strstr does not do. */
bool tarn_has(const char *text, const char *part);

/* Folders on the way are made. */
void tarn_write_file(const char *path, const void *data, size_t len);
void tarn_write_text(const char *path, const char *text);
/* Owned, NUL-terminated; `len` may be NULL. */
char *tarn_read_file(const char *path, size_t *len);
void tarn_make_folder(const char *path); /* with the folders on the way */
bool tarn_file_exists(const char *path);
/* Sets the modification time, UTC ms. */
void tarn_set_mtime(const char *path, long long ms);
/* A symbolic link; folders on the way are made. */
void tarn_make_link(const char *path, const char *to);
/* A file, or a folder with all in it. */
void tarn_remove_tree(const char *path);
/* Entries of a folder, without "." and "..". */
size_t tarn_count_entries(const char *folder);
#endif
