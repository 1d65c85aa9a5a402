/* run_cli.c - standard output and error go to files while a command runs. */
#include "tests/support/run_cli.h"
#include "cli/cli.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *caught[2];

static int redirect(int fd, const char *file)
{
    int saved = dup(fd), to = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    cr_assert(saved >= 0 && to >= 0 && dup2(to, fd) >= 0);
    close(to);
    return saved;
}

int tarn_run_cli(const char *words)
{
    char copy[4096], *argv[128] = { (char[]){ "tarn" } }, *rest = copy;
    const char *folder = tarn_tmp();
    const char *files[2] = { tarn_path(folder, "out"), tarn_path(folder, "err") };
    int argc = 1, saved[2];

    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "))
        if (*word)
            argv[argc++] = word;
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++)
        saved[i] = redirect(i + 1, files[i]);
    int rc = tarn_cli_main(argc, argv);
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        dup2(saved[i], i + 1);
        close(saved[i]);
        free(caught[i]);
        caught[i] = tarn_read_file(files[i], NULL);
    }
    return rc;
}

const char *tarn_cli_stdout(void) { return caught[0]; }
const char *tarn_cli_stderr(void) { return caught[1]; }
