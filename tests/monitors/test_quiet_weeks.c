/* Three weeks of normal life, in which no warning may ever open: hourly loads on weekdays, a daily load, a table that somebody
 * else writes, nightly compactions, files that lie before their commit, empty batches, restarts, clocks that differ. Then
 * the loads stop on a Tuesday, and the silence is told in time. The clock is the test's own; between two events
 * nothing happens, so that scans stand where something does, and every few hours. */
#include "tests/monitors/weeks.h"
#include <stdlib.h>
#include <unistd.h>

/* Some ten thousand durable transactions: in memory where there is such a place. */
static void setup(void)
{
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    tarn_lake_setup();
}

TestSuite(quiet_weeks, .init = setup, .fini = tarn_lake_teardown, .timeout = 120);

#define ZONE "Europe/Berlin"
enum { FILES_A_DAY = 32, DAYS = 21 };

/* --- the tables --- */

static char s_files[FILES_A_DAY][96]; /* of `sales`, to be compacted */
static int s_file_count;

/* A batch is staged, merged a minute later, and committed after the merged file has lain there for a while. */
static void load_sales(int day, int hour)
{
    char path[96], batch[96], staged[128];

    snprintf(batch, sizeof batch, "2027/%02d/%02d/batch-1.parquet", day, hour);
    snprintf(staged, sizeof staged, "staging/%s", batch);
    snprintf(path, sizeof path, "day=%02d/hour=%02d/data.parquet", day, hour);
    put("sales", staged);
    look_between("sales");
    s_now += TARN_MINUTE_MS;
    tell_batch("sales", batch, TARN_BATCH_IS_RUNNING, -1);
    size_t size = put("sales", path);
    look_between("sales");
    s_now += 10 * TARN_SECOND_MS * (1 + hour % 5); /* a slow writer */
    look_between("sales");
    commit("sales", "{\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu,\"numRecords\":5,\"columnStats\":{\"id\":{\"min\":1,\"max\":2}}}],"
                    "\"batch_id\":\"%s\"}", path, size, batch);
    snprintf(s_files[s_file_count++ % FILES_A_DAY], sizeof s_files[0], "%s", path);
    tarn_remove_tree(in_table("sales", staged));
    look_between("sales");
}

/* The day's files become one. They stay where they are, for time travel. */
static void compact_sales(int day)
{
    TARN_AUTO_DONE(buf) struct tarn_buf removes = { 0 };
    char path[96];

    snprintf(path, sizeof path, "day=%02d/hour=00/packed.parquet", day);
    size_t size = put("sales", path);
    (void)look("sales", NULL);
    s_now += 20 * TARN_SECOND_MS;
    (void)look("sales", NULL);
    for (int i = 0; i < s_file_count; i++)
        tarn_buf_addf(&removes, ",{\"type\":\"remove_file\",\"path\":\"%s\"}", s_files[i]);
    commit("sales", "{\"dataChange\":false,\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu}%s]}", path, size,
           removes.data ? removes.data : "");
    s_file_count = 0;
    look_twice("sales");
}

/* At ten past two, give or take twenty minutes; every fifth day the source has nothing. */
static void load_daily(int day)
{
    char path[96];

    s_now += jitter(20 * TARN_MINUTE_MS);
    snprintf(path, sizeof path, "day=%02d/data.parquet", day);
    if (day % 5 == 3) {
        tell_batch("daily", path, TARN_BATCH_IS_COMPLETED, 0);
    } else {
        size_t size = put("daily", path);
        (void)look("daily", NULL);
        s_now += 30 * TARN_SECOND_MS;
        commit("daily", "{\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu}]}", path, size);
    }
    look_twice("daily");
}

/* --- the table that somebody else writes: file, entry, manifest, pointer, each at its own time --- */

static struct tarn_buf s_listed;
static int s_commits;

static void put_text(const char *path, const char *text)
{
    tarn_write_text(in_table("events", path), text);
    tarn_set_mtime(in_table("events", path), clock_now());
}

static void write_manifest(void)
{
    char when[TARN_TIME_TEXT];
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };

    tarn_buf_addf(&out, "{\"version\":%d,\"last_updated\":\"%s\",\"files\":[%s]}", s_commits, tarn_time_format(clock_now(), when),
                  s_listed.data ? s_listed.data : "");
    put_text("manifest.json", out.data);
}

static void load_events(int day, int hour)
{
    char path[96], entry[64], text[400], pointer[32], when[TARN_TIME_TEXT];

    snprintf(path, sizeof path, "day=%02d/hour=%02d.parquet", day, hour);
    size_t size = put("events", path);
    look_between("events");
    s_now += (1 + hour % 4 * 3) * TARN_MINUTE_MS; /* late, but within the grace time */
    look_between("events");
    s_commits++;
    snprintf(entry, sizeof entry, "_transactions/txn-%d.json", s_commits);
    snprintf(text, sizeof text, "{\"id\":\"txn-%d\",\"timestamp\":\"%s\",\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu}]}",
             s_commits, tarn_time_format(clock_now(), when), path, size);
    put_text(entry, text);
    look_between("events");
    tarn_buf_addf(&s_listed, "%s{\"path\":\"%s\",\"size\":%zu}", s_commits > 1 ? "," : "", path, size);
    write_manifest();
    look_between("events");
    snprintf(pointer, sizeof pointer, "txn-%d\n", s_commits);
    put_text("last_committed_txn", pointer);
    look_between("events");
}

/* --- the weeks --- */

static void begin(void)
{
    cr_assert(eq(int, tarn_zone_get(ZONE, &s_zone, NULL), TARN_OK));
    s_random = 20270104;
    s_now = at(0, 5, 0);
    s_is_quiet = true;
    add_table("sales", TARN_MANAGED, "{\"timezone\":\"" ZONE "\"}");
    add_table("daily", TARN_MANAGED, "{}");
    publish("sales");
    publish("daily");
    write_manifest();
    /* Its writer is known to be slow. */
    add_table("events", TARN_OBSERVED, "{\"timezone\":\"" ZONE "\",\"manifest_age\":{\"grace\":\"15m\"}}");
    for (int i = 0; i < 3; i++)
        look_twice(i == 0 ? "sales" : i == 1 ? "daily" : "events");
}

static void look_at_all(void)
{
    (void)look("sales", NULL);
    (void)look("daily", NULL);
    (void)look("events", NULL);
}

/* Every half hour, and what lies in between. */
static void live_half_hour(int day, int hour, int half)
{
    int64_t start = at(day, hour, 30 * half);

    s_now = start;
    s_is_watched = (day + hour) % 3 == 0;
    if (half == 0 && (hour % 3 == day % 3 || day >= DAYS))
        look_at_all();
    if (half == 0 && is_weekday(day) && hour >= 6 && hour < 22) {
        s_now = start + 5 * TARN_MINUTE_MS + jitter(4 * TARN_MINUTE_MS);
        load_sales(day, hour);
    }
    if (half == 1 && is_weekday(day) && hour >= 8 && hour < 18) {
        s_now = start + TARN_MINUTE_MS;
        load_events(day, hour);
    }
    if (half == 0 && hour == 2) {
        s_now = start + 10 * TARN_MINUTE_MS;
        load_daily(day);
    }
    if (half == 0 && hour == 3 && s_file_count > 0) {
        s_now = start;
        compact_sales(day);
    }
}

static void live_day(int day, int until_hour)
{
    for (int hour = day == 0 ? 6 : 0; hour < until_hour; hour++) {
        live_half_hour(day, hour, 0);
        live_half_hour(day, hour, 1);
    }
    if (day % 4 == 2)
        tarn_lake_restart();
}

/* When the finding opens, in minutes after `last`; looked at every five minutes. */
static int64_t opens_after(const char *name, int64_t last, int64_t most_minutes)
{
    s_now = last;
    for (int64_t minutes = 5; minutes <= most_minutes; minutes += 5) {
        s_now = last + minutes * TARN_MINUTE_MS;
        if (look(name, "freshness"))
            return minutes;
    }
    return -1;
}

Test(quiet_weeks, three_weeks_of_normal_life_are_quiet_and_the_silence_after_them_is_told)
{
    begin();
    for (int day = 0; day < DAYS; day++)
        live_day(day, 24);
    live_day(DAYS, 24); /* Monday */
    live_day(DAYS + 1, 11); /* Tuesday, until eleven */

    /* Hourly loads end at ten past ten: three hours later everybody knows. */
    int64_t last = at(DAYS + 1, 10, 10);
    s_is_quiet = false;
    int64_t sales = opens_after("sales", last, 240), events = opens_after("events", at(DAYS + 1, 10, 40), 240);
    cr_expect(ge(i64, sales, 110), "%lld minutes", (long long)sales);
    cr_expect(le(i64, sales, 180), "%lld minutes", (long long)sales);
    cr_expect(ge(i64, events, 110), "%lld minutes", (long long)events);
    cr_expect(le(i64, events, 200), "%lld minutes", (long long)events);
    s_now = at(DAYS + 1, 16, 5);
    load_sales(DAYS + 1, 16);
    look_twice("sales");
    cr_expect(not(look("sales", "freshness")), "it closes with the next load");
    s_now = at(DAYS + 1, 17, 5);
    load_sales(DAYS + 1, 17);
    look_twice("sales"); /* the incident is no habit: what is late is as late as before */
    cr_expect(ge(i64, opens_after("sales", s_now, 300), 110));
    tarn_buf_done(&s_listed);
}

/* committed_at never goes back: after a clock that jumped ahead and came back the catalog's newest commit lies in the future,
 * and everything that it publishes with it. Told once, and over when that time has come. */
Test(quiet_weeks, a_clock_that_jumped_ahead_is_told_once_and_hides_nothing_for_longer)
{
    cr_assert(eq(int, tarn_zone_get("UTC", &s_zone, NULL), TARN_OK));
    s_now = at(0, 5, 0);
    add_table("sales", TARN_MANAGED, "{\"freshness\":{\"warning\":\"1h\"}}");
    size_t size = put("sales", "a.parquet");
    s_now += 2 * TARN_HOUR_MS;
    commit("sales", "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a.parquet\",\"size\":%zu}]}", size);
    s_now = at(0, 5, 1);
    look_twice("sales");
    look_twice("sales");
    struct tarn_scan_use use = { .table_id = 1, .defaults = &k_defaults, .now = clock_now };
    cr_assert(eq(int, tarn_use_run(&g_lake->lake, &tarn_scan, &use, NULL), TARN_OK));
    size_t loud = 0;
    for (size_t i = 0; i < use.findings.count; i++) {
        bool is_loud = use.findings.items[i].opened_at >= 0 && use.findings.items[i].severity >= TARN_SEV_WARNING;
        loud += is_loud;
        if (is_loud)
            cr_expect(eq(str, use.findings.items[i].subject, "catalog"), "%s", use.findings.items[i].message);
    }
    cr_expect(eq(sz, loud, 1));
    tarn_scan.done(&use);
    s_now = at(0, 7, 5);
    look_twice("sales");
    cr_expect(not(look("sales", "clock_skew")));
    cr_expect(not(look("sales", "freshness")));
    s_now = at(0, 8, 5);
    look_twice("sales");
    cr_expect(look("sales", "freshness"));
}
