/* folder.h - the folder of a race program's own, below $TMPDIR or /tmp; it goes with the program. */
#ifndef TARN_TESTS_RACE_FOLDER_H
#define TARN_TESTS_RACE_FOLDER_H
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define RACE_FOLDER_MAX 256
#define RACE_PATH_MAX   (RACE_FOLDER_MAX + 64) /* of what lies in it */

static inline bool race_folder_make(char folder[RACE_FOLDER_MAX])
{
    const char *base = getenv("TMPDIR");
    int len = snprintf(folder, RACE_FOLDER_MAX, "%s/tarn-race-XXXXXX", base && *base ? base : "/tmp");

    return len < RACE_FOLDER_MAX && mkdtemp(folder);
}

static inline int race_remove_one(const char *path, const struct stat *stat, int flag, struct FTW *ftw)
{
    (void)stat;
    (void)flag;
    (void)ftw;
    return remove(path);
}

/* With all in it. */
static inline bool race_folder_remove(const char *folder)
{
    return nftw(folder, race_remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0;
}
#endif
