/* fill_sweep FOLDER FILES FOLDERS SAMPLE - a table of the manifest format for bench/sweep: FILES files in FOLDERS folders,
 * a manifest that lists them with partition values and statistics, a log of one entry, a pointer. All files are as long as
 * SAMPLE; the newest 6,000 are copies of it, whose footers a sweep reads, and the others are holes, so that a million of
 * them fit on a disk. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WHOLE = 6000, SAMPLE_MAX = 1 << 20 };

struct fill {
    const char *folder;
    int64_t files, folders;
    char sample[SAMPLE_MAX];
    size_t size;
};

static void must(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "fill_sweep: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void folder_of(const struct fill *f, int64_t n, char out[64])
{
    int64_t place = n / (f->files / f->folders);

    snprintf(out, 64, "date=%04" PRId64 "-%02" PRId64 "/hour=%02" PRId64, 1000 + place / 288, place / 24 % 12 + 1, place % 24);
}

static void make_folder(const struct fill *f, const char *folder)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%.12s", f->folder, folder);
    must(mkdir(path, 0777) == 0 || errno == EEXIST, path);
    snprintf(path, sizeof path, "%s/%s", f->folder, folder);
    must(mkdir(path, 0777) == 0 || errno == EEXIST, path);
}

static void make_files(const struct fill *f)
{
    char folder[64], last[64] = "", path[4096];

    for (int64_t n = 0; n < f->files; n++) {
        folder_of(f, n, folder);
        if (strcmp(folder, last) != 0)
            make_folder(f, folder);
        memcpy(last, folder, sizeof last);
        snprintf(path, sizeof path, "%s/%s/part-%08" PRId64 ".parquet", f->folder, folder, n);
        int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
        must(fd >= 0, path);
        if (n < f->files - WHOLE)
            must(ftruncate(fd, (off_t)f->size) == 0, path);
        else
            must(write(fd, f->sample, f->size) == (ssize_t)f->size, path);
        close(fd);
    }
}

static FILE *begin(const struct fill *f, const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE *out = fopen(path, "w");
    must(out != NULL, path);
    return out;
}

static void write_entry(const struct fill *f, FILE *out, int64_t n, const char *type)
{
    char folder[64];

    folder_of(f, n, folder);
    fprintf(out,
            "\n{%s\"path\":\"%s/part-%08" PRId64 ".parquet\",\"size\":%zu,\"partitionValues\":{\"date\":\"%.7s\",\"hour\":\"%s\"},"
            "\"numRecords\":1000,\"columnStats\":{\"id\":{\"min\":%" PRId64 ",\"max\":%" PRId64 ",\"nullCount\":0}}}",
            type, folder, n, f->size, folder + 5, folder + 18, n * 1000, n * 1000 + 999);
}

static void write_documents(const struct fill *f)
{
    FILE *out = begin(f, "manifest.json");

    fprintf(out, "{\"version\":1,\"last_updated\":%lld,\"files\":[", (long long)time(NULL));
    for (int64_t n = 0; n < f->files; n++) {
        write_entry(f, out, n, "");
        fputs(n + 1 < f->files ? "," : "]}\n", out);
    }
    must(fclose(out) == 0, "manifest.json");
    char path[4096];
    snprintf(path, sizeof path, "%s/_transactions", f->folder);
    must(mkdir(path, 0777) == 0, path);
    out = begin(f, "_transactions/txn-1.json");
    fputs("{\"id\":\"txn-1\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"operations\":[", out);
    write_entry(f, out, f->files - 1, "\"type\":\"add_file\",");
    fputs("]}\n", out);
    must(fclose(out) == 0, "the entry");
    out = begin(f, "last_committed_txn");
    fputs("txn-1\n", out);
    must(fclose(out) == 0, "the pointer");
}

int main(int argc, char **argv)
{
    static struct fill f;

    if (argc != 5) {
        fputs("usage: fill_sweep FOLDER FILES FOLDERS SAMPLE\n", stderr);
        return 64;
    }
    f.folder = argv[1];
    f.files = strtoll(argv[2], NULL, 10);
    f.folders = strtoll(argv[3], NULL, 10);
    FILE *in = fopen(argv[4], "r");
    must(in != NULL, argv[4]);
    f.size = fread(f.sample, 1, sizeof f.sample, in);
    fclose(in);
    must(mkdir(f.folder, 0777) == 0, f.folder);
    make_files(&f);
    write_documents(&f);
    return 0;
}
