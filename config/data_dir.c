/* data_dir.c - two servers on one database would each believe to be the only writer, and file
 * locks of network file systems cannot be trusted to tell them apart. */
#include "config/data_dir.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

struct tarn_data_dir {
    char *database;   /* owned */
    int folder, lock; /* descriptors that hold a flock each, -1: none */
};

/* Magic numbers of statfs(2). */
static const struct {
    unsigned long magic;
    const char *name;
} k_network[] = {
    { 0x6969, "NFS" },      { 0x517b, "SMB" },      { 0xff534d42, "CIFS" },  { 0xfe534d42, "SMB2" },
    { 0x5346414f, "AFS" },  { 0x00c36400, "Ceph" }, { 0x01021997, "9P" },    { 0x0bd00bd0, "Lustre" },
    { 0x73757245, "Coda" }, { 0x47504653, "GPFS" }, { 0x7461636f, "OCFS2" },
};

void tarn_data_dir_free(struct tarn_data_dir *dir)
{
    if (!dir)
        return;
    if (dir->lock >= 0)
        close(dir->lock);
    if (dir->folder >= 0)
        close(dir->folder);
    free(dir->database);
    free(dir);
}

const char *tarn_data_dir_database(const struct tarn_data_dir *dir) { return dir->database; }

/* mkdir -p, new folders for the owner alone. */
static tarn_code make_folders(const char *path, struct tarn_err *err)
{
    TARN_AUTO(mem) char *part = strdup(path);
    if (!part)
        return tarn_fail_oom(err);
    for (char *at = part + 1; at > part; at++) {
        at += strcspn(at, "/");
        char ended = *at;
        *at = '\0';
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return tarn_fail(err, TARN_INTERNAL, "cannot make the folder '%s': %s", part, strerror(errno));
        *at = ended;
        if (!ended)
            break;
    }
    return TARN_OK;
}

static tarn_code refuse_network(const char *path, struct tarn_err *err)
{
    struct statfs fs;
    if (statfs(path, &fs) < 0)
        return tarn_fail(err, TARN_INTERNAL, "cannot look at '%s': %s", path, strerror(errno));
    for (size_t i = 0; i < TARN_COUNT(k_network); i++)
        if (((unsigned long)fs.f_type & 0xffffffff) == k_network[i].magic)
            return tarn_fail(err, TARN_INVALID,
                             "'%s' lies on a network file system (%s); the database needs a local disk", path,
                             k_network[i].name);
    return TARN_OK;
}

static void holder_of(int fd, char out[32])
{
    ssize_t len = pread(fd, out, 31, 0);
    out[len > 0 ? len : 0] = '\0';
    out[strspn(out, "0123456789")] = '\0';
}

/* The folder is locked beside its lock file: one that somebody removed and another made anew would be two. */
static tarn_code take_locks(const char *path, struct tarn_data_dir *dir, struct tarn_err *err)
{
    char file[4096], pid[32];
    snprintf(file, sizeof file, "%s/lock", path);
    int fd = dir->lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return tarn_fail(err, TARN_INTERNAL, "cannot open '%s': %s", file, strerror(errno));
    dir->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir->folder < 0)
        return tarn_fail(err, TARN_INTERNAL, "cannot open '%s': %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 || flock(dir->folder, LOCK_EX | LOCK_NB) < 0) {
        holder_of(fd, pid);
        return tarn_fail(err, TARN_INVALID, "the data folder '%s' is in use by another tarn process%s%s",
                         path, pid[0] ? ", pid " : "", pid);
    }
    int len = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)len, 0) < 0) {
        /* The pid is only for the message above: a full disk must not stop a start. */
    }
    return TARN_OK;
}

/* What a killed server left of a backup that it was making. */
static void sweep_backups(const char *path)
{
    char pattern[4096];
    glob_t found = { 0 };
    snprintf(pattern, sizeof pattern, "%s/backup-*.tmp*", path);
    if (glob(pattern, GLOB_NOESCAPE, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            (void)unlink(found.gl_pathv[i]);
    globfree(&found);
}

tarn_code tarn_data_dir_open(const char *path, struct tarn_data_dir **out, struct tarn_err *err)
{
    TARN_AUTO(data_dir) struct tarn_data_dir *dir = calloc(1, sizeof *dir);
    if (!dir)
        return tarn_fail_oom(err);
    dir->folder = dir->lock = -1;
    if (asprintf(&dir->database, "%s/%s", path, TARN_DATABASE_FILE) < 0) {
        dir->database = NULL;
        return tarn_fail_oom(err);
    }
    tarn_code code = make_folders(path, err);
    if (code == TARN_OK)
        code = refuse_network(path, err);
    if (code == TARN_OK)
        code = take_locks(path, dir, err);
    if (code != TARN_OK)
        return code;
    sweep_backups(path);
    *out = tarn_take(&dir);
    return TARN_OK;
}
