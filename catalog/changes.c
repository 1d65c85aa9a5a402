/* changes.c - which tables were written when, without telling what: one number a slot, so that a cache of a
 * hundred thousand tables asks one atomic load. The order is the point: a reader takes the clock before its
 * transaction, the writer raises the slots after its commit; so an entry made from old rows always carries an
 * older time than its slot. */
#include "catalog/store_driver.h"

static size_t slot_of(int64_t table_id)
{
    return (uint64_t)table_id * UINT64_C(0x9e3779b97f4a7c15) >> 50; /* the top 14 bits */
}

_Static_assert(TARN_CHANGE_SLOTS == 1 << 14, "slot_of takes 14 bits");

uint64_t tarn_store_clock(const struct tarn_store *store)
{
    return atomic_load_explicit(&store->changes.clock, memory_order_acquire);
}

bool tarn_store_touched(const struct tarn_store *store, int64_t table_id, uint64_t since)
{
    const struct tarn_changes *c = &store->changes;
    return atomic_load_explicit(&c->slot[slot_of(table_id)], memory_order_acquire) > since ||
           atomic_load_explicit(&c->all, memory_order_acquire) > since;
}

void tarn_changes_note(struct tarn_store *store, int64_t table_id)
{
    struct tarn_changes *c = &store->changes;
    if (c->pending_count > 0 && c->pending_count <= TARN_CHANGES_PENDING &&
        c->pending[c->pending_count - 1] == table_id)
        return;
    if (c->pending_count < TARN_CHANGES_PENDING)
        c->pending[c->pending_count] = table_id;
    if (c->pending_count <= TARN_CHANGES_PENDING)
        c->pending_count++;
}

void tarn_changes_note_all(struct tarn_store *store)
{
    store->changes.pending_count = TARN_CHANGES_PENDING + 1;
}

/* --- events --- */

uint64_t tarn_store_events_clock(const struct tarn_store *store)
{
    return atomic_load_explicit(&store->events.clock, memory_order_acquire);
}

void tarn_store_on_events(struct tarn_store *store, void (*fn)(void *ctx), void *ctx)
{
    if (fn) /* a call that is on its way keeps the ctx that it was made for */
        atomic_store(&store->events.ctx, ctx);
    atomic_store(&store->events.fn, fn);
}

void tarn_events_note(struct tarn_store *store) { store->events.pending = true; }

/* After the commit: whoever read before it took an older clock. */
static void tell_events(struct tarn_event_clock *events)
{
    if (!events->pending)
        return;
    events->pending = false;
    atomic_fetch_add_explicit(&events->clock, 1, memory_order_seq_cst);
    void (*fn)(void *ctx) = atomic_load(&events->fn);
    if (fn)
        fn(atomic_load(&events->ctx));
}

/* --- told together --- */

void tarn_changes_tell(struct tarn_store *store)
{
    struct tarn_changes *c = &store->changes;
    tell_events(&store->events);
    atomic_fetch_add_explicit(&store->commits, store->commits_pending, memory_order_relaxed);
    store->commits_pending = 0;
    if (c->pending_count == 0)
        return;
    uint64_t now = atomic_load_explicit(&c->clock, memory_order_relaxed) + 1;
    if (c->pending_count > TARN_CHANGES_PENDING)
        atomic_store_explicit(&c->all, now, memory_order_release);
    else
        for (size_t i = 0; i < c->pending_count; i++)
            atomic_store_explicit(&c->slot[slot_of(c->pending[i])], now, memory_order_release);
    c->pending_count = 0;
    atomic_store_explicit(&c->clock, now, memory_order_release);
}
