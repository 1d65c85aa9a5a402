/* facts_walk.c - what lies in the table's folders, as sums: one folder after the other, each read to its end or told as
 * unread, so that nobody takes what was not seen for missing. */
#include "formats/manifest/gather.h"
#include "base/time.h"
#include <string.h>

struct walk {
    struct tarn_gather *g;
    struct tarn_folders *folders;
    uint32_t *todo, *lost;  /* owned; places of folders: still to be visited, and not there when they were */
    size_t count, cap, lost_count, lost_cap;
    /* the folder at hand: */
    size_t at;
    struct tarn_folder_state state;
    bool reads;             /* its names are read */
    bool is_odd;
    struct tarn_tally lying;
    int64_t newest_ms;
    struct tarn_buf newest; /* its path */
    struct tarn_picks near; /* its newest files */
};

static void walk_done(struct walk *w)
{
    free(w->todo);
    free(w->lost);
    tarn_buf_done(&w->newest);
    tarn_picks_done(&w->near);
}

static struct tarn_folder *at_hand(const struct walk *w) { return &w->folders->items[w->at]; }

static tarn_code push(uint32_t **list, size_t *count, size_t *cap, size_t at, struct tarn_err *err)
{
    if (*count == *cap) {
        size_t more_cap = *cap ? 2 * *cap : 64;
        uint32_t *more = realloc(*list, more_cap * sizeof *more);
        if (!more)
            return tarn_fail_oom(err);
        *list = more;
        *cap = more_cap;
    }
    (*list)[(*count)++] = (uint32_t)at;
    return TARN_OK;
}

/* The log, staging and what is hidden at the top have walks of their own, or none. */
static tarn_code meet_folder(struct walk *w, const char *path, struct tarn_err *err)
{
    bool is_at_top = !strchr(path, '/');

    if (is_at_top && !tarn_holds_data(path))
        return TARN_OK;
    struct tarn_folder *folder = tarn_folders_put(w->folders, path, strlen(path));
    if (!folder)
        return w->folders->count == TARN_FOLDERS_MAX
                   ? tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "more than %d folders in one table", TARN_FOLDERS_MAX)
                   : tarn_fail_oom(err);
    bool is_known = folder->flags & TARN_FOLDER_FOUND;
    folder->flags |= TARN_FOLDER_FOUND | TARN_FOLDER_MET;
    return is_known ? TARN_OK : push(&w->todo, &w->count, &w->cap, (size_t)(folder - w->folders->items), err);
}

static tarn_code meet_data(struct walk *w, const struct tarn_object *object, struct tarn_err *err)
{
    w->is_odd |= object->size == 0;
    tarn_tally_add(&w->lying, tarn_hash128(object->path, strlen(object->path)), object->size);
    bool is_newest = object->mtime_ms > w->newest_ms ||
                     (object->mtime_ms == w->newest_ms && strcmp(object->path, w->newest.data) < 0);
    if (is_newest) {
        w->newest_ms = object->mtime_ms;
        tarn_buf_clear(&w->newest);
        tarn_buf_adds(&w->newest, object->path);
    }
    tarn_code code = tarn_buf_check(&w->newest, err);
    if (code != TARN_OK || !tarn_picks_wants(&w->g->picks, object->mtime_ms))
        return code;
    return tarn_picks_offer(&w->near, object->path, object->size, object->mtime_ms, TARN_BEHIND_UNKNOWN, err);
}

static tarn_code meet(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct walk *w = ctx;
    tarn_code code = tarn_gather_goes_on(w->g, err);

    if (code != TARN_OK)
        return code;
    if (object->is_folder)
        return meet_folder(w, object->path, err);
    if (!object->is_symlink && tarn_is_data_file(object->path))
        return meet_data(w, object, err);
    w->is_odd |= object->is_symlink || tarn_is_leftover(object->path) || tarn_stray_format(object->path);
    return TARN_OK;
}

/* Are the names there still those that were read? */
static bool note_state(void *ctx, const struct tarn_folder_state *state)
{
    struct walk *w = ctx;
    const struct tarn_folder *folder = at_hand(w);
    const unsigned known = TARN_FOLDER_READ | TARN_FOLDER_SETTLED;
    bool is_same = (folder->flags & known) == known && state->keeps_time && folder->state.id == state->id &&
                   folder->state.changed_ns == state->changed_ns;

    w->state = *state;
    w->reads = w->g->is_full || !is_same || folder->flags & TARN_FOLDER_NEWEST;
    return w->reads;
}

static void forget_near(struct walk *w)
{
    for (size_t i = 0; i < w->near.count; i++)
        tarn_pick_done(&w->near.heap[i]);
    tarn_pick_done(&w->near.passed);
    w->near.count = 0;
}

/* The picks are those of listed files: what is known not to be listed never is one. */
static tarn_code offer_near(struct walk *w, struct tarn_err *err)
{
    struct tarn_folder *folder = at_hand(w);
    bool is_offered = !w->g->recall->is_listed || tarn_tally_fits(&folder->lying, &folder->listed);
    tarn_code code = TARN_OK;

    folder->flags |= is_offered ? TARN_FOLDER_OFFERED : 0u;
    for (size_t i = 0; i < w->near.count && is_offered && code == TARN_OK; i++)
        code = tarn_picks_take(&w->g->picks, &w->near.heap[i], err);
    if (is_offered && w->near.passed.path && code == TARN_OK)
        code = tarn_picks_take(&w->g->picks, &w->near.passed, err);
    forget_near(w);
    return code;
}

static tarn_code note_read(struct walk *w, int64_t began_ns, struct tarn_err *err)
{
    struct tarn_folder *folder = at_hand(w);
    bool is_settled = w->state.keeps_time && w->state.changed_ns < began_ns - tarn_gather_racy_ms(w->g) * 1000000;

    folder->state = w->state;
    folder->lying = w->lying;
    folder->flags &= ~(unsigned)(TARN_FOLDER_SETTLED | TARN_FOLDER_ODD | TARN_FOLDER_OFFERED);
    folder->flags |= TARN_FOLDER_READ | TARN_FOLDER_LISTED | (is_settled ? TARN_FOLDER_SETTLED : 0u) |
                     (w->is_odd ? TARN_FOLDER_ODD : 0u);
    const char *slash = w->newest_ms == INT64_MIN ? NULL : strrchr(w->newest.data, '/');
    const char *name = w->newest_ms == INT64_MIN ? NULL : slash ? slash + 1 : w->newest.data;
    tarn_code code = tarn_folder_set_newest(w->folders, folder, w->newest_ms, name, err);
    return code == TARN_OK ? offer_near(w, err) : code;
}

static tarn_code note_fault(struct walk *w, tarn_code code, struct tarn_err *fault, struct tarn_err *err)
{
    const char *path = tarn_folder_path(w->folders, at_hand(w));

    forget_near(w);
    if (code == TARN_NOT_FOUND && path[0])
        return push(&w->lost, &w->lost_count, &w->lost_cap, w->at, err);
    if (code != TARN_STORAGE_UNAVAILABLE || !path[0])
        return tarn_err_move(err, fault);
    return tarn_gather_unread(w->g, at_hand(w), fault->detail, err);
}

static tarn_code visit(struct walk *w, size_t at, struct tarn_err *err)
{
    TARN_ERR(fault);

    w->at = at;
    w->reads = w->is_odd = false;
    w->lying = (struct tarn_tally){ 0 };
    w->newest_ms = INT64_MIN;
    int64_t began_ns = tarn_now_ms() * 1000000;
    TARN_AUTO(mem) char *path = strdup(tarn_folder_path(w->folders, at_hand(w))); /* the map grows meanwhile */
    if (!path)
        return tarn_fail_oom(err);
    tarn_code code = tarn_place_folder(w->g->place, path, note_state, meet, w, &fault);
    if (code != TARN_OK)
        return note_fault(w, code, &fault, err);
    at_hand(w)->flags |= TARN_FOLDER_LOOKED;
    w->g->facts->folders_read += w->reads;
    return w->reads ? note_read(w, began_ns, err) : TARN_OK;
}

/* --- what was not there --- */

static int by_path(const void *a, const void *b, void *ctx)
{
    const struct tarn_folders *folders = ctx;
    const uint32_t *x = a, *y = b;

    return strcmp(tarn_folder_path(folders, &folders->items[*x]), tarn_folder_path(folders, &folders->items[*y]));
}

static void forget_folder(struct tarn_folder *folder)
{
    folder->flags &= ~(unsigned)(TARN_FOLDER_FOUND | TARN_FOLDER_READ);
    folder->lying = (struct tarn_tally){ 0 };
    folder->newest_ms = INT64_MIN;
}

/* One that its parent does not have is gone. One that it had, or would have told to have lost, went away just now. */
static tarn_code judge_lost(struct walk *w, struct tarn_folder *folder, struct tarn_err *err)
{
    const char *path = tarn_folder_path(w->folders, folder);
    struct tarn_folder *parent = tarn_folders_find(w->folders, path, tarn_folder_len(path));
    bool is_parent_gone = parent && !(parent->flags & TARN_FOLDER_FOUND);
    bool is_unmet = parent && parent->flags & TARN_FOLDER_LISTED && !(folder->flags & TARN_FOLDER_MET);

    forget_folder(folder);
    if (is_parent_gone || is_unmet)
        return TARN_OK;
    if (parent)
        parent->flags &= ~(unsigned)TARN_FOLDER_SETTLED;
    return tarn_gather_unread(w->g, folder, "it went away while it was read", err);
}

static tarn_code judge_all_lost(struct walk *w, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    if (w->lost_count > 1)
        qsort_r(w->lost, w->lost_count, sizeof *w->lost, by_path, w->folders); /* parents first */
    for (size_t i = 0; i < w->lost_count && code == TARN_OK; i++)
        code = judge_lost(w, &w->folders->items[w->lost[i]], err);
    return code;
}

/* --- which folders --- */

static void choose(struct tarn_folders *folders, struct tarn_folder *folder)
{
    while (!(folder->flags & TARN_FOLDER_CHOSEN)) {
        const char *path = tarn_folder_path(folders, folder);
        folder->flags |= TARN_FOLDER_CHOSEN;
        struct tarn_folder *above = tarn_folders_find(folders, path, tarn_folder_len(path));
        if (!path[0] || !above)
            return;
        folder = above;
    }
}

/* The newest folders, with all above them, since that is where new ones come; and what looked wrong the last time, unless that
 * is too much. */
static void choose_for_probe(struct tarn_folders *folders)
{
    enum { NEWEST = 16, FILES_MAX = 20000 };
    struct tarn_folder *newest[NEWEST];
    int64_t doubtful = 0, files = 0;
    size_t count = 0;

    for (size_t i = 0; i < folders->count; i++) {
        struct tarn_folder *folder = &folders->items[i];
        doubtful += folder->watch > 0 ? folder->lying.count + 1 : 0;
        size_t at = count < NEWEST ? count++ : NEWEST;
        for (; at > 0 && newest[at - 1]->newest_ms < folder->newest_ms; at--)
            if (at < NEWEST)
                newest[at] = newest[at - 1];
        if (at < NEWEST)
            newest[at] = folder;
    }
    for (size_t i = 0; i < count; i++) {
        choose(folders, newest[i]);
        files += newest[i]->lying.count;
        newest[i]->flags |= files <= FILES_MAX ? TARN_FOLDER_NEWEST : 0u;
    }
    for (size_t i = 0; i < folders->count && doubtful <= FILES_MAX; i++)
        if (folders->items[i].watch > 0)
            choose(folders, &folders->items[i]);
}

static bool is_small(const struct tarn_gather *g)
{
    int64_t known = tarn_recall_files(g->recall), files = g->options->files_expected;

    return (known > files ? known : files) <= TARN_SMALL_FILES;
}

tarn_code tarn_gather_remember(struct tarn_gather *g, struct tarn_err *err)
{
    const struct tarn_facts_options *options = g->options;
    struct tarn_recall *recall = g->recall;
    int64_t since_ms = options->now_ms - recall->walked_at_ms;
    bool is_due = recall->walked_at_ms == 0 || since_ms < 0 || since_ms >= options->full_every_ms;
    struct tarn_folder *top = tarn_folders_put(&recall->folders, "", 0);

    if (!top)
        return tarn_fail_oom(err);
    top->flags |= TARN_FOLDER_FOUND | TARN_FOLDER_MET;
    g->is_full = is_small(g) || (options->sweep && (options->full || is_due));
    g->is_unknown = !g->is_full && recall->walked_at_ms == 0;
    g->known_picks = recall->picks;
    recall->picks = (struct tarn_picks){ 0 };
    if (!g->is_full) {
        g->picks.passed = g->known_picks.passed;
        g->known_picks.passed = (struct tarn_pick){ 0 };
    }
    if (!options->sweep && !g->is_full)
        choose_for_probe(&recall->folders);
    return TARN_OK;
}

/* Of the folders that were not read again, the picks are what they were. The others stay known for their notes. */
static tarn_code offer_known(struct tarn_gather *g, struct tarn_err *err)
{
    struct tarn_folders *folders = &g->recall->folders;
    struct tarn_picks *known = &g->known_picks;
    tarn_code code = TARN_OK;
    size_t left = 0;

    for (size_t i = 0; i < known->count && code == TARN_OK; i++) {
        struct tarn_pick *pick = &known->heap[i];
        const struct tarn_folder *folder = tarn_folders_find(folders, pick->path, tarn_folder_len(pick->path));
        if (folder && folder->flags & TARN_FOLDER_FOUND && !(folder->flags & TARN_FOLDER_LISTED)) {
            code = tarn_picks_take(&g->picks, pick, err);
            continue;
        }
        known->heap[left++] = *pick;
        if (left <= i)
            *pick = (struct tarn_pick){ 0 };
    }
    known->count = code == TARN_OK ? left : known->count;
    return code;
}

/* Those that a probe did not visit, but whose parent it read and did not find them in, and what lay below them. */
static void forget_unmet(struct tarn_folders *folders)
{
    bool is_more = true;

    while (is_more) {
        is_more = false;
        for (size_t i = 0; i < folders->count; i++) {
            struct tarn_folder *folder = &folders->items[i];
            const char *path = tarn_folder_path(folders, folder);
            if (!path[0] || !(folder->flags & TARN_FOLDER_FOUND) || folder->flags & TARN_FOLDER_MET)
                continue;
            const struct tarn_folder *parent = tarn_folders_find(folders, path, tarn_folder_len(path));
            if (!parent || (parent->flags & TARN_FOLDER_FOUND && !(parent->flags & TARN_FOLDER_LISTED)))
                continue;
            forget_folder(folder);
            is_more = true;
        }
    }
}

tarn_code tarn_gather_walk(struct tarn_gather *g, struct tarn_err *err)
{
    __attribute__((cleanup(walk_done))) struct walk w = { .g = g, .folders = &g->recall->folders };
    unsigned wanted = g->is_full || g->options->sweep ? TARN_FOLDER_FOUND : TARN_FOLDER_CHOSEN | TARN_FOLDER_FOUND;
    tarn_code code = TARN_OK;

    if (g->is_unknown) /* a probe that knows no folder leaves them to the sweep */
        return TARN_OK;
    w.near.max = g->picks.max;
    for (size_t i = 0; i < w.folders->count && code == TARN_OK; i++)
        if ((w.folders->items[i].flags & wanted) == wanted)
            code = push(&w.todo, &w.count, &w.cap, i, err);
    for (size_t i = 0; i < w.count && code == TARN_OK; i++)
        code = visit(&w, w.todo[i], err);
    if (code == TARN_OK)
        code = judge_all_lost(&w, err);
    if (code == TARN_OK && wanted != TARN_FOLDER_FOUND && g->facts->folders_read > 0)
        forget_unmet(w.folders);
    if (code == TARN_OK && g->is_full)
        g->recall->walked_at_ms = g->options->now_ms;
    return code == TARN_OK ? offer_known(g, err) : code;
}
