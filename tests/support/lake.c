/* lake.c - see lake.h. */
#include "tests/support/lake.h"
#include "catalog/sqlite/sqlite.h"
#include "tests/support/faultvfs.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HEADERS_MAX 4

struct tarn_test_lake *g_lake;
static const char *s_headers[2 * HEADERS_MAX + 4];
static char s_values[HEADERS_MAX][512];
static size_t s_header_count;
static char s_token[256];
static const char *s_vfs; /* NULL: SQLite's own */
static struct tarn_reply s_reply;
static json_t *s_json;

static void must(tarn_code code, const struct tarn_err *err)
{
    if (code != TARN_OK)
        cr_assert_fail("%s: %s", tarn_code_slug(code), err->detail);
}

static void open_lake(enum tarn_auth_mode mode)
{
    const char *roots[] = { g_lake->root };
    struct tarn_sqlite_options options = { .path = g_lake->database, .migrate = true, .vfs = s_vfs };
    bool made = false;
    TARN_ERR(err);

    must(tarn_sqlite_open(&options, &g_lake->store, &err), &err);
    must(tarn_storage_new(roots, 1, &g_lake->storage, &err), &err);
    must(tarn_lake_open(&g_lake->lake, g_lake->store, g_lake->storage, &err), &err);
    g_lake->lake.default_root = strdup(g_lake->root);
    must(tarn_auth_open(mode, g_lake->store, g_lake->folder, &made, &g_lake->auth, &err), &err);
    g_lake->app = (struct tarn_app){ .lake = &g_lake->lake, .auth = g_lake->auth };
}

static void close_lake(void)
{
    tarn_auth_free(g_lake->auth);
    tarn_lake_done(&g_lake->lake);
    tarn_store_free(g_lake->store);
    tarn_storage_free(g_lake->storage);
    g_lake->lake = (struct tarn_lake){ 0 };
}

/* A test's own .init comes after that of its suite: the lake made there goes first. */
static void setup(enum tarn_auth_mode mode)
{
    if (g_lake)
        tarn_lake_teardown();
    g_lake = calloc(1, sizeof *g_lake);
    cr_assert(g_lake != NULL);
    snprintf(g_lake->folder, sizeof g_lake->folder, "%s", tarn_tmp());
    snprintf(g_lake->root, sizeof g_lake->root, "%s/root", g_lake->folder);
    snprintf(g_lake->database, sizeof g_lake->database, "%s/tarn.db", g_lake->folder);
    tarn_make_folder(g_lake->root);
    open_lake(mode);
}

void tarn_lake_setup(void) { setup(TARN_AUTH_NONE); }

void tarn_lake_setup_faulty(void)
{
    tarn_fault_install();
    s_vfs = TARN_FAULT_VFS;
    setup(TARN_AUTH_NONE);
}

void tarn_lake_setup_tokens(void)
{
    setup(TARN_AUTH_TOKENS);
    char *text = tarn_read_file(tarn_path(g_lake->folder, "admin.token"), NULL);
    snprintf(g_lake->admin, sizeof g_lake->admin, "%.*s", (int)strcspn(text, "\r\n"), text);
    free(text);
    tarn_ask_token(g_lake->admin);
}

static void forget_answer(void)
{
    tarn_reply_done(&s_reply);
    json_decref(s_json);
    s_json = NULL;
}

void tarn_lake_teardown(void)
{
    forget_answer();
    close_lake();
    free(g_lake);
    g_lake = NULL;
    tarn_tmp_remove();
}

void tarn_lake_restart(void)
{
    enum tarn_auth_mode mode = tarn_auth_mode(g_lake->auth);

    close_lake();
    open_lake(mode);
}

void tarn_ask_token(const char *token) { snprintf(s_token, sizeof s_token, "Bearer %s", token); }

void tarn_ask_header(const char *name, const char *value)
{
    cr_assert(s_header_count < HEADERS_MAX);
    s_headers[2 * s_header_count] = name;
    snprintf(s_values[s_header_count], sizeof s_values[0], "%s", value); /* it may be of the last answer */
    s_headers[2 * s_header_count + 1] = s_values[s_header_count];
    s_header_count++;
}

unsigned tarn_ask(const char *method, const char *target, const char *body, ...)
{
    va_list args;
    char *text = NULL;

    va_start(args, body);
    if (body)
        cr_assert(vasprintf(&text, body, args) >= 0);
    va_end(args);
    if (s_token[0])
        tarn_ask_header("Authorization", s_token);
    s_headers[2 * s_header_count] = NULL;
    forget_answer();
    tarn_api_call_with(&g_lake->app, method, target, s_headers, text, &s_reply);
    s_header_count = 0;
    free(text);
    s_json = s_reply.body.len > 0 ? json_loadb(s_reply.body.data, s_reply.body.len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    return s_reply.status;
}

const json_t *tarn_answer(void) { return s_json; }
const char *tarn_answer_text(void) { return s_reply.body.data ? s_reply.body.data : ""; }
const char *tarn_answer_header(const char *name) { return tarn_reply_header_value(&s_reply, name); }

const char *tarn_answer_str(const char *key)
{
    const char *text = json_string_value(json_object_get(s_json, key));

    return text ? text : "";
}

int64_t tarn_answer_i64(const char *key)
{
    const json_t *value = json_object_get(s_json, key);

    return json_is_integer(value) ? json_integer_value(value) : INT64_MIN;
}
