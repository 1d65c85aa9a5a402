/* recover.c - tarn recover: a lost catalog again from the folders of its tables,
 * on a stopped server; and, with --table, one table of a server that runs. */
#include "base/json.h"
#include "catalog/sqlite/sqlite.h"
#include "cli/files.h"
#include "cli/offline.h"
#include "cli/out.h"
#include "cli/recover_table.h"
#include "config/data_dir.h"
#include "lake/rebuild.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_TOLD 1
#define EXIT_NOT 2
#define NOT_REBUILT                                                                                               \
    "Not on storage, so not rebuilt: properties (an Iceberg table's are), owner, monitors and other settings of tables and\n" \
    "namespaces, tokens, Idempotency-Keys, events, findings and their past, which tables were dropped, observed tables,\n" \
    "Iceberg views, names of Iceberg tables that are not their folders'."
#define NEW_TOKEN " The next start makes a new admin token unless\nadmin.token is still in the data folder."

static const struct tarn_flag k_flags[] = {
    { "dry-run", TARN_FLAG_BOOL, NULL, "Tell what would be rebuilt and change nothing." },
    { "missing", TARN_FLAG_BOOL, NULL, "The catalog has tables: take those that it lacks." },
    { "catalog", TARN_FLAG_TEXT, "ID", "The catalog whose tables are wanted, where several wrote there." },
    { "table", TARN_FLAG_TEXT, "TABLE", "One table of a running server: take back what storage knows and the catalog lost." },
    { "run", TARN_FLAG_BOOL, NULL, "With --table: do it. Without, the plan is told and nothing changes." },
    { NULL, TARN_FLAG_BOOL, NULL, NULL }
};

struct run {
    const struct tarn_cli *cli;
    bool dry_run, json, shows_progress;
    char *data;                    /* owned */
    char **locations;              /* owned, each too; canonical */
    size_t count;
    struct tarn_data_dir *data_dir; /* owned, with its lock */
    char scratch[64];              /* folder of a dry run's database, "": none */
    char database[4200];
    struct tarn_store *store;      /* owned */
    struct tarn_storage *storage;  /* owned */
    struct tarn_lake lake;
    json_t *tables, *told;         /* owned arrays */
};

static void run_done(struct run *r)
{
    static const char *const k_ends[] = { "", "-wal", "-shm" };
    char path[4300];

    if (r->lake.store)
        tarn_lake_done(&r->lake);
    tarn_store_free(r->store);
    tarn_storage_free(r->storage);
    tarn_data_dir_free(r->data_dir);
    for (size_t i = 0; r->scratch[0] && i < TARN_COUNT(k_ends); i++) {
        snprintf(path, sizeof path, "%s%s", r->database, k_ends[i]);
        (void)unlink(path);
    }
    if (r->scratch[0])
        (void)rmdir(r->scratch);
    for (size_t i = 0; i < r->count; i++)
        free(r->locations[i]);
    free(r->locations);
    free(r->data);
    json_decref(r->tables);
    json_decref(r->told);
}

/* --- what is told --- */

static void print_line(FILE *to, const struct tarn_rebuild_line *line)
{
    char text[8192], files[24] = "-";

    if (line->files >= 0)
        snprintf(files, sizeof files, "%lld", (long long)line->files);
    if (line->kind == TARN_REBUILT)
        snprintf(text, sizeof text, "%s: version %lld (from %lld), files %s, schema versions %lld, batches %lld, %s", line->table,
                 (long long)line->version, (long long)line->oldest_version, files, (long long)line->schemas,
                 (long long)line->batches, line->location);
    else
        snprintf(text, sizeof text, "! %s%s%s%s: %s", line->location ? line->location : "all", line->table ? " (" : "",
                 line->table ? line->table : "", line->table ? ")" : "", line->message);
    tarn_print_safe_to(to, text);
    fputc('\n', to);
}

static json_t *json_of(const struct tarn_rebuild_line *line)
{
    if (line->kind == TARN_REBUILT)
        return json_pack("{s:s, s:s, s:s, s:o, s:I, s:I, s:o, s:I, s:I, s:I}", "table", line->table, "uuid", line->uuid, "format",
                         tarn_format_text(line->format), "location", tarn_json_str(line->location), "version", (json_int_t)line->version, "oldest_version",
                         (json_int_t)line->oldest_version, "files", line->files < 0 ? json_null() : json_integer(line->files), "commits",
                         (json_int_t)line->commits, "schemas", (json_int_t)line->schemas, "batches",
                         (json_int_t)line->batches);
    return json_pack("{s:o, s:o, s:o}", "location", line->location ? tarn_json_str(line->location) : json_null(), "table",
                     tarn_json_str_or_null(line->table), "message", tarn_json_str(line->message));
}

static void show_progress(const struct tarn_rebuild_line *line)
{
    if (line->total > 0)
        fprintf(stderr, "\r\033[K%lld of %lld tables", (long long)line->done, (long long)line->total);
    else
        fprintf(stderr, "\r\033[K%s: version %lld", line->table, (long long)line->version);
}

static void tell(void *ctx, const struct tarn_rebuild_line *line)
{
    struct run *r = ctx;

    if (line->kind == TARN_REBUILD_PROGRESS) {
        if (r->shows_progress)
            show_progress(line);
        return;
    }
    if (r->shows_progress)
        fputs("\r\033[K", stderr);
    if (r->json)
        (void)json_array_append_new(line->kind == TARN_REBUILT ? r->tables : r->told, json_of(line));
    else
        print_line(stdout, line);
    fflush(stdout);
}

/* --- what it works on --- */

static tarn_code read_locations(struct run *r, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    r->locations = calloc(r->cli->arg_count, sizeof *r->locations);
    if (!r->locations)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < r->cli->arg_count && code == TARN_OK; i++) {
        json_auto_t *given = tarn_location_arg(r->cli->args[i]);
        if (!given)
            return tarn_fail_oom(err);
        code = tarn_location_normalise(json_string_value(given), "location", &r->locations[r->count], err);
        r->count += code == TARN_OK;
    }
    return code;
}

static tarn_code open_database(struct run *r, struct tarn_err *err)
{
    const struct tarn_sqlite_options options = { .path = r->database, .migrate = true };

    return tarn_sqlite_open(&options, &r->store, err);
}

/* A dry run works on a database of its own, beside a copy of what is there where that matters. */
static tarn_code open_scratch(struct run *r, struct tarn_err *err)
{
    const char *base = getenv("TMPDIR");
    char copy[4200];
    bool is_there = false;

    snprintf(r->scratch, sizeof r->scratch, "%.40s/tarn-recover.XXXXXX", base && strlen(base) <= 40 ? base : "/tmp");
    if (!mkdtemp(r->scratch)) {
        r->scratch[0] = '\0';
        return tarn_fail(err, TARN_INTERNAL, "no temporary folder can be made for the dry run");
    }
    snprintf(copy, sizeof copy, "%s/%s", r->data, TARN_DATABASE_FILE);
    is_there = access(copy, F_OK) == 0;
    tarn_code code = is_there ? tarn_data_dir_open(r->data, &r->data_dir, err) : TARN_OK;
    if (code == TARN_OK && is_there) {
        const struct tarn_sqlite_options options = { .path = tarn_data_dir_database(r->data_dir) };
        code = tarn_sqlite_open(&options, &r->store, err);
    }
    snprintf(r->database, sizeof r->database, "%s/%s", r->scratch, TARN_DATABASE_FILE);
    if (code == TARN_OK && is_there)
        code = tarn_sqlite_backup(r->store, r->database, err);
    tarn_store_free(r->store);
    r->store = NULL;
    return code == TARN_OK ? open_database(r, err) : code;
}

static tarn_code open_all(struct run *r, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    r->data = tarn_data_folder(tarn_cli_text(r->cli, "data"));
    r->tables = json_array();
    r->told = json_array();
    if (!r->data || !r->tables || !r->told)
        return tarn_fail_oom(err);
    code = read_locations(r, err);
    if (code == TARN_OK && r->dry_run)
        code = open_scratch(r, err);
    else if (code == TARN_OK)
        code = tarn_data_dir_open(r->data, &r->data_dir, err);
    if (code == TARN_OK && !r->dry_run) {
        snprintf(r->database, sizeof r->database, "%s", tarn_data_dir_database(r->data_dir));
        code = open_database(r, err);
    }
    if (code == TARN_OK)
        code = tarn_storage_new((const char *const *)r->locations, r->count, &r->storage, err);
    return code == TARN_OK ? tarn_lake_open(&r->lake, r->store, r->storage, err) : code;
}

/* --- the end --- */

/* A catalog that only lacked some tables has its tokens. */
static const char *not_rebuilt(const struct tarn_rebuild *rebuild)
{
    return rebuild->only_missing ? NOT_REBUILT : NOT_REBUILT NEW_TOKEN;
}

static void print_end(const struct run *r, const struct tarn_rebuild *rebuild)
{
    if (!r->json) {
        printf("%lld table%s %s, ", (long long)rebuild->tables, rebuild->tables == 1 ? "" : "s",
               r->dry_run ? "can be rebuilt" : "rebuilt");
        printf("%lld line%s to look at, catalog %s\n%s\n", (long long)rebuild->told, rebuild->told == 1 ? "" : "s",
               r->lake.catalog_id, not_rebuilt(rebuild));
        return;
    }
    json_auto_t *all =
        json_pack("{s:b, s:s, s:O, s:O, s:s}", "dry_run", r->dry_run, "catalog", r->lake.catalog_id, "tables",
                  r->tables, "told", r->told, "not_rebuilt", not_rebuilt(rebuild));
    if (all)
        (void)json_dumpf(all, stdout, JSON_COMPACT);
    fputc('\n', stdout);
}

static int rebuild(struct tarn_cli *cli)
{
    __attribute__((cleanup(run_done))) struct run r = { .cli = cli,
                                                        .dry_run = tarn_cli_has(cli, "dry-run"),
                                                        .json = tarn_cli_has(cli, "json"),
                                                        .shows_progress = isatty(STDERR_FILENO) };
    TARN_ERR(err);
    tarn_code code = open_all(&r, &err);
    struct tarn_rebuild rebuild = { .lake = &r.lake,
                                    .locations = (const char *const *)r.locations,
                                    .count = r.count,
                                    .catalog = tarn_cli_text(cli, "catalog"),
                                    .only_missing = tarn_cli_has(cli, "missing"),
                                    .tell = tell,
                                    .ctx = &r };

    if (code == TARN_OK)
        code = tarn_rebuild(&rebuild, &err);
    if (r.shows_progress)
        fputs("\r\033[K", stderr);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, EXIT_NOT);
    print_end(&r, &rebuild);
    return rebuild.told > 0 ? EXIT_TOLD : 0;
}

static int run(struct tarn_cli *cli)
{
    bool of_table = tarn_cli_has(cli, "table");

    if (of_table && cli->arg_count > 0)
        return tarn_cli_usage(cli->command, "--table stands alone, without locations");
    if (!of_table && cli->arg_count == 0)
        return tarn_cli_usage(cli->command, "at least one location is needed: a folder of tables, or of one");
    if (!of_table && tarn_cli_has(cli, "run"))
        return tarn_cli_usage(cli->command, "--run belongs to --table; --dry-run to locations");
    return of_table ? tarn_recover_one(cli) : rebuild(cli);
}

const struct tarn_command tarn_command_recover = {
    .name = "recover",
    .takes = "LOCATION...",
    .least = 0,
    .most = 1000,
    .flags = k_flags,
    .asks_server = true,
    .sentence = "Rebuild a lost catalog from the folders of its tables (a stopped server's, --data).",
    .run = run,
};
