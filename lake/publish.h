/* publish.h - storage follows the catalog: schema.json, log entries, manifest.json and
 * last_committed_txn are written for every committed version, in that order, whole files, never ahead
 * of the catalog. What is still to publish is always derived from the catalog (published_version <
 * version), so a crash loses nothing. Own thread; never on a thread that serves requests. */
#ifndef TARN_LAKE_PUBLISH_H
#define TARN_LAKE_PUBLISH_H
#include "lake/lake.h"

struct tarn_publisher_options {
    int64_t wait_ms;     /* publish.wait: how long a commit waits for its publication, default 2,000 */
    int64_t backlog_max; /* publish.backlog: versions a table may be behind before commits get TARN_OVERLOADED, default 1,000 */
};
/* Starts the thread; it begins with the tables that are behind. `lake` is borrowed and gets its publisher. */
TARN_MUST tarn_code tarn_publisher_start(struct tarn_lake *lake, const struct tarn_publisher_options *options,
                                         struct tarn_publisher **out, struct tarn_err *err);
/* Publishes what is queued (a drain is bounded by `deadline_ms`
 * from now), answers who waits, joins. NULL is fine. */
void tarn_publisher_stop(struct tarn_publisher *publisher, int64_t deadline_ms);
/* This table has something new. Any thread; never blocks. */
void tarn_publisher_nudge(struct tarn_publisher *publisher, int64_t table_id);
/* `fn` is called once, on the publisher's thread: true when storage shows `version` of the table, false
 * when the wait of options.wait_ms ended first or publication of the table is blocked. Implies a nudge. */
void tarn_publisher_wait(struct tarn_publisher *publisher, int64_t table_id, int64_t version,
                         void (*fn)(void *ctx, bool done), void *ctx);
/* Is the table so far behind that commits must be refused? */
bool tarn_publisher_overloaded(const struct tarn_publisher *publisher, const struct tarn_table *table);
/* For metrics. Any thread, quick. */
struct tarn_publisher_meters {
    int64_t tables;             /* with something to publish: waiting, pausing or in hand */
    int64_t published, failed;  /* runs that ended well and with a fault, since the start */
};
void tarn_publisher_meters_read(struct tarn_publisher *publisher, struct tarn_publisher_meters *out);
/* The table property that asks for _symlink_format_manifest/,
 * and whether `properties` (a JSON object) sets it. */
#define TARN_PROPERTY_LINKS "publish.symlink_manifest"
bool tarn_links_wanted(const char *properties);
/* One table up to its newest version, on the calling thread: for tools and tests. TARN_FOREIGN_WRITE
 * when storage holds a document that Tarn did not write last; the table's block is then set. */
TARN_MUST tarn_code tarn_publish_table(struct tarn_lake *lake, int64_t table_id, struct tarn_err *err);
#endif
