/* Many clients at one table: each acknowledged commit is there exactly once, versions have no gap, and what lies on
 * storage replays to what the API says. */
#include "formats/manifest/manifest.h"
#include "lake/publish.h"
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define CLIENTS 64
#define COMMITS 4

TestSuite(commit_race, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 120);

struct client { int number; int acknowledged; int conflicts; int failures; };

static int64_t member(const struct tarn_reply *reply, const char *key)
{
    json_auto_t *json = json_loadb(reply->body.data, reply->body.len, 0, NULL);
    const json_t *value = json_object_get(json, key);

    return json_is_integer(value) ? json_integer_value(value) : -1;
}

/* One commit by compare-and-swap, again from the version the refusal tells. */
static void commit_once(struct client *client, int n)
{
    int64_t expected = 0;
    char body[256];

    for (;;) {
        struct tarn_reply reply = { 0 };
        snprintf(body, sizeof body,
                 "{\"expected_version\":%lld,\"operations\":[{\"type\":\"add_file\",\"path\":\"c%d/%d\",\"size\":1}]}",
                 (long long)expected, client->number, n);
        tarn_api_call(&g_lake->app, "POST", "/api/table/t/commits", NULL, body, &reply);
        unsigned status = reply.status;
        expected = member(&reply, "current_version");
        tarn_reply_done(&reply);
        client->conflicts += status == 409;
        if (status == 409 && expected >= 0)
            continue;
        client->acknowledged += status == 201;
        client->failures += status != 201;
        return;
    }
}

static void *run_client(void *ctx)
{
    for (int n = 0; n < COMMITS; n++)
        commit_once(ctx, n);
    return NULL;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* --- three ways to the file set --- */

struct set { char *paths[CLIENTS * COMMITS + 8]; size_t count; };

static void set_done(struct set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->paths[i]);
}

static void set_add(struct set *set, const char *path)
{
    cr_assert(set->count < sizeof set->paths / sizeof set->paths[0]);
    set->paths[set->count++] = strdup(path);
}

static void from_api(struct set *set)
{
    size_t i;
    json_t *file;

    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    json_array_foreach(json_object_get(tarn_answer(), "files"), i, file)
        set_add(set, json_string_value(json_object_get(file, "path")));
}

static tarn_code note_file(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)err;
    set_add(ctx, file->path);
    return TARN_OK;
}

static tarn_code note_op(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    (void)err;
    if (op->is_add)
        set_add(ctx, op->file.path);
    return TARN_OK;
}

static tarn_code note_entry(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    (void)err;
    set_add(ctx, object->path);
    return TARN_OK;
}

static void expect_same(const char *what, struct set *a, struct set *b)
{
    qsort(a->paths, a->count, sizeof a->paths[0], by_text);
    qsort(b->paths, b->count, sizeof b->paths[0], by_text);
    cr_assert(a->count == b->count, "%s: %zu files, the API tells %zu", what, b->count, a->count);
    for (size_t i = 0; i < a->count; i++)
        cr_assert(strcmp(a->paths[i], b->paths[i]) == 0, "%s: %s, the API tells %s", what, b->paths[i], a->paths[i]);
}

/* Every entry of the log, its versions without a gap, and the adds of all. */
static void from_log(struct tarn_place *place, struct set *out)
{
    __attribute__((cleanup(set_done))) struct set entries = { 0 };
    bool seen[CLIENTS * COMMITS + 1] = { false };
    TARN_ERR(err);

    cr_assert(eq(int, tarn_place_list(place, TARN_DIR_LOG, true, note_entry, &entries, &err), TARN_OK));
    cr_assert(eq(sz, entries.count, CLIENTS * COMMITS));
    for (size_t i = 0; i < entries.count; i++) {
        struct tarn_entry_head head = { 0 };
        cr_assert(eq(int, tarn_entry_read_at(place, entries.paths[i], &head, NULL, note_op, out, &err), TARN_OK));
        cr_assert(head.version >= 1 && head.version <= CLIENTS * COMMITS && !seen[head.version]);
        seen[head.version] = true;
        tarn_entry_head_done(&head);
    }
}

static void expect_one_truth(void)
{
    __attribute__((cleanup(set_done))) struct set api = { 0 }, log = { 0 }, manifest = { 0 };
    TARN_AUTO(place) struct tarn_place *place = NULL;
    struct tarn_manifest_head head = { 0 };
    char location[512];
    TARN_ERR(err);

    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    cr_expect(eq(i64, tarn_answer_i64("version"), CLIENTS * COMMITS));
    snprintf(location, sizeof location, "%s", tarn_answer_str("location"));
    from_api(&api);
    cr_assert(eq(sz, api.count, CLIENTS * COMMITS));
    cr_assert(eq(int, tarn_place_open(g_lake->storage, location, false, &place, &err), TARN_OK));
    from_log(place, &log);
    cr_assert(eq(int, tarn_manifest_read_at(place, &head, NULL, note_file, &manifest, &err), TARN_OK));
    cr_expect(eq(i64, head.version, CLIENTS * COMMITS));
    tarn_manifest_head_done(&head);
    expect_same("the log", &api, &log);
    expect_same("the manifest", &api, &manifest);
}

static struct tarn_publisher *start_publisher(void)
{
    struct tarn_publisher_options options = { .wait_ms = 2000, .backlog_max = 1000 };
    struct tarn_publisher *publisher = NULL;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_publisher_start(&g_lake->lake, &options, &publisher, &err), TARN_OK));
    return publisher;
}

static void race(bool with_restart)
{
    struct client clients[CLIENTS];
    pthread_t threads[CLIENTS];
    int acknowledged = 0;

    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 201), "%s", tarn_answer_text());
    if (with_restart)
        tarn_lake_restart(); /* the first commits compare storage with the catalog, all at once */
    struct tarn_publisher *publisher = with_restart ? start_publisher() : NULL;
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){ .number = i };
        pthread_create(&threads[i], NULL, run_client, &clients[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        acknowledged += clients[i].acknowledged;
        cr_expect(eq(int, clients[i].failures, 0));
    }
    tarn_publisher_stop(publisher, 10000);
    g_lake->lake.publisher = NULL;
    cr_assert(eq(int, acknowledged, CLIENTS * COMMITS));
}

Test(commit_race, all_that_was_acknowledged_is_there_once_and_on_storage)
{
    TARN_ERR(err);

    race(false);
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_OK), "%s", err.detail);
    expect_one_truth();
}

Test(commit_race, so_it_is_after_a_restart_while_a_publisher_writes_along)
{
    race(true);
    expect_one_truth();
}
