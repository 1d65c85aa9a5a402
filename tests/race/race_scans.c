/* race_scans - a wide table is gathered again and again by several threads: its folders are walked beside its manifest, and
 * footers are read side by side. Exit code 0 when all say the same. */
#include "formats/recall.h"
#include "tests/race/folder.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { FOLDERS = 40, FILES = 150, THREADS = 3, ROUNDS = 4 };

static char folder[RACE_FOLDER_MAX];

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "race_scans: %s: %s\n", what, strerror(errno));
    exit(1);
}

static FILE *begin(const char *name)
{
    char path[RACE_PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    must(out != NULL, path);
    return out;
}

/* Entries are made long, so that the manifest counts as a large one. */
static void fill(void)
{
    char path[RACE_PATH_MAX], pad[200];

    memset(pad, 'x', sizeof pad);
    must(race_folder_make(folder), folder);
    FILE *manifest = begin("manifest.json");
    fprintf(manifest, "{\"version\":1,\"last_updated\":%lld,\"files\":[", (long long)time(NULL));
    for (int d = 0; d < FOLDERS; d++) {
        snprintf(path, sizeof path, "%s/d=%d", folder, d);
        must(mkdir(path, 0777) == 0, path);
        for (int f = 0; f < FILES; f++) {
            snprintf(path, sizeof path, "d=%d/f%d.parquet", d, f);
            FILE *file = begin(path);
            fputs("PAR1 but no footer", file);
            must(fclose(file) == 0, path);
            fprintf(manifest, "%s{\"path\":\"%s\",\"size\":18,\"columnStats\":{\"%.*s\":{}}}", d + f ? "," : "", path, (int)sizeof pad, pad);
        }
    }
    fputs("]}", manifest);
    must(fclose(manifest) == 0, "manifest.json");
}

static void *gather(void *ctx)
{
    struct tarn_recall recall = { 0 };

    for (int i = 0; i < ROUNDS; i++) {
        const struct tarn_facts_options options = { .now_ms = tarn_now_ms(), .sweep = true, .recall = i % 2 ? &recall : NULL };
        struct tarn_place *place = NULL;
        struct tarn_facts facts;
        TARN_ERR(err);
        bool ok = tarn_place_open_local(folder, &place, &err) == TARN_OK &&
                  tarn_facts_gather(place, TARN_FORMAT_MANIFEST, &options, &facts, &err) == TARN_OK;
        must(ok, err.detail);
        ok = facts.file_count == FOLDERS * FILES && facts.missing.total == 0 && facts.unregistered.total == 0 &&
             facts.corrupt.total == 5000;
        if (!ok)
            *(bool *)ctx = true;
        tarn_facts_done(&facts);
        tarn_place_free(place);
    }
    tarn_recall_done(&recall);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    bool wrong[THREADS] = { false }, any = false;

    fill();
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&threads[i], NULL, gather, &wrong[i]) == 0, "thread");
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        any |= wrong[i];
    }
    must(race_folder_remove(folder), folder);
    return any;
}
