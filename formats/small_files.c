/* small_files.c - many small files in one folder make every read slow: each costs a request and a footer. A folder is judged
 * once nothing new came for the grace time, since then nobody is about to compact it; one in use is given more room. */
#include "formats/small_files.h"
#include "base/time.h"
#include <stdio.h>

tarn_code tarn_small_files_gather(const struct tarn_folders *folders, bool is_listed,
                                  const struct tarn_facts_options *options, struct tarn_facts *facts, struct tarn_err *err)
{
    char note[TARN_TIME_TEXT + 32], size[TARN_TIME_TEXT];
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < folders->count && options->small_files_least > 0 && code == TARN_OK; i++) {
        const struct tarn_folder *folder = &folders->items[i];
        const struct tarn_tally *files = is_listed ? &folder->listed : &folder->lying;
        bool is_known = folder->newest_ms != INT64_MIN && files->unsized == 0 && files->count > 0;
        if (!is_known || files->bytes / files->count >= TARN_SMALL_BYTES)
            continue;
        bool is_in_use = folder->newest_ms >= options->now_ms - options->small_files_grace_ms;
        int64_t times = is_in_use ? TARN_SMALL_IN_USE : 1;
        if (files->count / times <= options->small_files_least)
            continue;
        const char *path = tarn_folder_path(folders, folder);
        snprintf(note, sizeof note, "%s on average", tarn_size_format(files->bytes / files->count, size));
        code = tarn_suspects_add(&facts->small_files, path[0] ? path : ".", note, files->count, times, folder->newest_ms, err);
        if (files->count / times > facts->small_files_most)
            facts->small_files_most = files->count / times;
    }
    return code;
}
