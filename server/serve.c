/* serve.c - the outermost function of the server: configuration, signals, and the words to people. */
#include "server/serve.h"
#include "auth/admin_token.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/time.h"
#include "monitors/monitors.h"
#include "server/house.h"
#include <jansson.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define EXIT_USAGE  64
#define PATIENCE_MS (10 * TARN_SECOND_MS) /* for requests that run when the signal comes */
#define LARGE_BYTES (1 << 20)             /* of one allocation */
#define HARD_STOP_S 30                    /* storage that hangs must not keep the process */

static int refuse(const struct tarn_err *err, int exit_code)
{
    fprintf(stderr, "tarn: %s%s%s\n", err->field, err->field[0] ? ": " : "", err->detail);
    return exit_code;
}

static void set_up_log(const struct tarn_config *config)
{
    static const char *const k_levels[] = { "debug", "info", "warn", "error" };
    enum tarn_log_level level = TARN_LOG_INFO;
    for (size_t i = 0; i < TARN_COUNT(k_levels); i++)
        if (strcmp(config->log_level, k_levels[i]) == 0)
            level = (enum tarn_log_level)i;
    tarn_log_setup(level, strcmp(config->log_format, "json") == 0 ? TARN_LOG_JSON : TARN_LOG_LOGFMT);
}

/* Started under nohup, the server outlives its terminal. */
static bool is_ignored(int signal)
{
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* Before any thread starts: all of them inherit the mask, and only this one takes the signals. */
static void block_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    if (!is_ignored(SIGHUP))
        sigaddset(set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static const char *signal_text(int signal)
{
    if (signal == SIGHUP)
        return "SIGHUP";
    return signal == SIGINT ? "SIGINT" : "SIGTERM";
}

static void greet(const struct tarn_house *house)
{
    const char *word = house->made_admin_token ? "an admin token was made:" : "the admin token:";
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", house->config->data, TARN_ADMIN_TOKEN_FILE);
    if (access(path, F_OK) != 0)
        word = "there is an admin token, but no longer in:";
    printf("listening on http://%s\n", house->listener.text);
    if (strcmp(house->config->auth_mode, "none") == 0)
        printf("serving without tokens: whoever reaches this address is admin\n");
    else
        printf("%s %s\n", word, path);
    fflush(stdout);
}

/* A second signal, or a stop that does not end, kills the process: nothing that was acknowledged is lost. */
static void stop_hard(const sigset_t *set)
{
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    if (sigismember(set, SIGHUP))
        signal(SIGHUP, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
    alarm(HARD_STOP_S);
}

/* Each connection is a descriptor: take as many as the system lets this user have. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* glibc gives each of many threads a heap of its own, and comes to keep in them what
 * large documents left. Most requests are small and served from a thread's own
 * cache: few heaps are enough, and what is large goes back to the system at once. */
static void bound_heaps(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, LARGE_BYTES);
    (void)mallopt(M_ARENA_MAX, cores > 4 ? 8 : 2 * (int)cores);
}

static bool wants_help(int argc, char **argv)
{
    return argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0);
}

static int help(void)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    tarn_config_help(&text);
    printf("tarn serve [--config FILE] [--data DIR] [--root LOCATION]... [--listen ADDR] [--auth MODE]\n\n%s",
           text.failed ? "" : text.data);
    return 0;
}

int tarn_serve(int argc, char **argv)
{
    TARN_ERR(err);
    sigset_t set;
    struct tarn_config *config = NULL;
    struct tarn_house *house = NULL;
    if (wants_help(argc, argv))
        return help();
    if (tarn_config_load_judged(argc, argv, tarn_monitors_check, &config, &err) != TARN_OK)
        return refuse(&err, EXIT_USAGE);
    json_object_seed(0);
    set_up_log(config);
    raise_file_limit();
    bound_heaps();
    block_signals(&set);
    if (tarn_house_open(config, &house, &err) != TARN_OK)
        return refuse(&err, err.code == TARN_INVALID ? EXIT_USAGE : 1);
    greet(house);

    int got = 0;
    while (sigwait(&set, &got) != 0 || got == 0)
        continue;
    tarn_log(TARN_LOG_INFO, "stopping", "signal", signal_text(got), NULL);
    stop_hard(&set);
    tarn_house_close(house, PATIENCE_MS);
    tarn_log(TARN_LOG_INFO, "stopped", NULL);
    return 0;
}
