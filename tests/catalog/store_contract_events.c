/* store_contract_events.c - the port's promises about the feed of events. */
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct feed {
    int64_t after, limit, first_after, newest;
    char text[256]; /* "sequence:type:name:data " each */
};

static tarn_code note(void *ctx, const struct tarn_event *event, struct tarn_err *err)
{
    struct feed *feed = ctx;
    size_t len = strlen(feed->text);
    (void)err;
    snprintf(feed->text + len, sizeof feed->text - len, "%lld:%s:%s.%s:%lld:%s ", (long long)event->sequence,
             event->type, event->namespace_, event->name, (long long)event->at, event->data);
    return TARN_OK;
}

static tarn_code feed_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct feed *feed = ctx;
    feed->text[0] = '\0';
    TARN_TRY(tx->ops->events.bounds(tx, &feed->first_after, &feed->newest, err));
    return tx->ops->events.list(tx, feed->after, feed->limit, note, feed, err);
}

struct add {
    int64_t at;
    int count;
    tarn_code end;
};
static tarn_code add_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct add *add = ctx;
    for (int i = 0; i < add->count; i++) {
        const struct tarn_event event = { .type = "t", .table_id = 1, .namespace_ = "a", .name = "b",
                                          .at = add->at + i, .data = "{}" };
        TARN_TRY(tx->ops->events.add(tx, &event, err));
    }
    return add->end == TARN_OK ? TARN_OK : tarn_fail(err, add->end, "as it was asked to");
}

struct expire {
    int64_t before, limit;
    bool left;
};
static tarn_code expire_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct expire *expire = ctx;
    return tx->ops->events.expire(tx, expire->before, expire->limit, &expire->left, err);
}

static void expect_feed(struct tarn_store *store, int64_t after, int64_t limit, int64_t first_after, int64_t newest,
                        const char *text)
{
    struct feed feed = { .after = after, .limit = limit };
    fx_read(store, feed_tx, &feed, TARN_OK);
    cr_expect(feed.first_after == first_after && feed.newest == newest && strcmp(feed.text, text) == 0,
              "after %lld: kept from %lld, newest %lld, %s", (long long)after, (long long)feed.first_after,
              (long long)feed.newest, feed.text);
}

void tarn_contract_events_come_back_in_order_page_by_page(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    expect_feed(store, 0, 10, 0, 0, "");
    fx_write(store, add_tx, &(struct add){ 100, 2, TARN_OK }, TARN_OK);
    fx_write(store, add_tx, &(struct add){ 200, 1, TARN_INVALID }, TARN_INVALID); /* a refusal tells nothing */
    fx_write(store, add_tx, &(struct add){ 300, 1, TARN_OK }, TARN_OK);
    expect_feed(store, 0, 2, 0, 3, "1:t:a.b:100:{} 2:t:a.b:101:{} ");
    expect_feed(store, 2, 2, 0, 3, "3:t:a.b:300:{} ");
    expect_feed(store, 3, 2, 0, 3, "");
}

void tarn_contract_the_oldest_events_expire_and_no_number_comes_twice(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct expire expire = { .before = 105, .limit = 3 };
    fx_write(store, add_tx, &(struct add){ 100, 10, TARN_OK }, TARN_OK); /* 1 to 10, at 100 to 109 */
    fx_write(store, add_tx, &(struct add){ 50, 1, TARN_OK }, TARN_OK);   /* 11: the clock was set back */
    fx_write(store, expire_tx, &expire, TARN_OK);
    cr_expect(expire.left);
    expect_feed(store, 3, 1, 3, 11, "4:t:a.b:103:{} ");
    fx_write(store, expire_tx, &expire, TARN_OK);
    cr_expect(not(expire.left));
    expect_feed(store, 10, 9, 5, 11, "11:t:a.b:50:{} "); /* 6 to 10 are kept, so 11 is too */

    expire = (struct expire){ .before = 1000, .limit = 100 };
    fx_write(store, expire_tx, &expire, TARN_OK);
    expect_feed(store, 11, 9, 11, 11, "");
    fx_write(store, add_tx, &(struct add){ 2000, 1, TARN_OK }, TARN_OK);
    expect_feed(store, 11, 9, 11, 12, "12:t:a.b:2000:{} ");
}

static void count(void *ctx) { atomic_fetch_add((atomic_int *)ctx, 1); }

void tarn_contract_who_waits_for_events_is_told_after_they_are_durable(tarn_store_opener *open)
{
    atomic_int told = 0;
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    tarn_store_on_events(store, count, &told);
    uint64_t clock = tarn_store_events_clock(store);
    (void)fx_make(store, "default", "quiet");
    cr_expect(eq(int, atomic_load(&told), 0));
    cr_expect(tarn_store_events_clock(store) == clock);
    fx_write(store, add_tx, &(struct add){ 1, 3, TARN_OK }, TARN_OK); /* answered after the hook */
    cr_expect(eq(int, atomic_load(&told), 1));
    cr_expect(tarn_store_events_clock(store) == clock + 1);
    tarn_store_on_events(store, NULL, NULL);
}
