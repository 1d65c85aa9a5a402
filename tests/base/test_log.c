/* test_log.c - log lines, read back from standard error. */
#include "base/log.h"
#include "base/json.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *begin(void)
{
    const char *file = tarn_path(tarn_tmp(), "log");
    int fd = open(file, O_RDWR | O_CREAT | O_APPEND, 0600);

    cr_assert(ge(int, dup2(fd, STDERR_FILENO), 0));
    close(fd);
    return file;
}

Test(log, a_line_has_pairs_and_quotes_what_needs_it)
{
    const char *file = begin();

    tarn_log(TARN_LOG_INFO, "two words", "plain", "v", "blank", "a b", "quote", "a\"b", "empty", "", "line", "a\nb", "none",
             NULL, "bad", "\xff", "n", tarn_log_i64(-5), NULL);
    char *text = tarn_read_file(file, NULL);
    cr_expect(tarn_has(text, " level=info msg=\"two words\" plain=v blank=\"a b\" quote=\"a\\\"b\" empty=\"\" line=\"a\\nb\" "
                             "bad=\"\xef\xbf\xbd\" n=-5\n"), "%s", text);
    cr_expect(eq(int, strncmp(text, "ts=20", 5), 0));
    free(text);
}

Test(log, json_lines_are_json)
{
    const char *file = begin();
    json_auto_t *line = NULL;
    TARN_ERR(err);

    tarn_log_setup(TARN_LOG_INFO, TARN_LOG_JSON);
    tarn_log(TARN_LOG_WARN, "event", "key", "a\"b\n", NULL);
    char *text = tarn_read_file(file, NULL);
    cr_assert(eq(int, tarn_json_parse(text, strlen(text), NULL, &line, &err), TARN_OK), "%s", text);
    cr_expect(eq(str, (char *)json_string_value(json_object_get(line, "level")), "warn"));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(line, "msg")), "event"));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(line, "key")), "a\"b\n"));
    free(text);
}

Test(log, lines_below_the_level_are_left_out)
{
    const char *file = begin();

    tarn_log(TARN_LOG_DEBUG, "hidden", NULL);
    tarn_log_setup(TARN_LOG_ERROR, TARN_LOG_LOGFMT);
    tarn_log(TARN_LOG_WARN, "hidden", NULL);
    tarn_log(TARN_LOG_ERROR, "shown", NULL);
    char *text = tarn_read_file(file, NULL);
    cr_expect(tarn_has(text, "msg=shown"), "%s", text);
    cr_expect(not(tarn_has(text, "hidden")), "%s", text);
    free(text);
}

Test(log, an_error_is_told_with_code_and_detail)
{
    const char *file = begin();
    TARN_ERR(err);

    (void)tarn_fail_code_field(&err, TARN_VERSION_CONFLICT, "expected_version", "it is 3");
    tarn_log_err(TARN_LOG_WARN, "commit", &err);
    char *text = tarn_read_file(file, NULL);
    cr_expect(tarn_has(text, "level=warn msg=commit code=version_conflict field=expected_version detail=\"it is 3\"\n"), "%s", text);
    free(text);
}

static void *writer(void *arg)
{
    (void)arg;
    for (int i = 0; i < 200; i++)
        tarn_log(TARN_LOG_INFO, "line", "filler", "0123456789012345678901234567890123456789", NULL);
    return NULL;
}

Test(log, lines_of_several_threads_do_not_mix)
{
    const char *file = begin();
    pthread_t threads[4];
    int lines = 0;

    for (int i = 0; i < 4; i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, writer, NULL), 0));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    char *text = tarn_read_file(file, NULL), *rest = text;
    for (char *line = strsep(&rest, "\n"); line && *line; line = strsep(&rest, "\n"), lines++)
        cr_assert(tarn_has(line, "ts=") && tarn_has(line, "filler=0123456789012345678901234567890123456789"), "%s", line);
    cr_expect(eq(int, lines, 800));
    free(text);
}
