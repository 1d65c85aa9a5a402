/* manifest_pull.c - the files of a manifest one by one, for who cannot be called back (an answer that is sent piece by
 * piece). The document is read twice: its head may stand behind the files, and a document that is no manifest is to be
 * known before the first file is told. */
#include "formats/manifest/doc.h"
#include "formats/manifest/manifest.h"
#include <string.h>

#define TRIES 5 /* the document may be replaced between the two readings */

struct tarn_manifest_pull {
    struct tarn_manifest_head head;
    struct tarn_object object;
    struct tarn_reader *reader; /* owned */
    struct tarn_jsonr *json;    /* owned */
    struct tarn_doc_file entry;
    struct tarn_file view; /* borrows from entry */
    bool at_end;
};

void tarn_manifest_pull_free(struct tarn_manifest_pull *pull)
{
    if (!pull)
        return;
    tarn_jsonr_free(pull->json);
    tarn_reader_free(pull->reader);
    tarn_doc_file_done(&pull->entry);
    tarn_manifest_head_done(&pull->head);
    free(pull);
}

/* Up to the first entry of `files`. The document was read whole before: what it lacks is known. */
static tarn_code find_files(struct tarn_manifest_pull *pull, struct tarn_err *err)
{
    struct tarn_jsonr_event event;
    tarn_code code = tarn_jsonr_next(pull->json, &event, err); /* the object */

    while (code == TARN_OK) {
        code = tarn_jsonr_next(pull->json, &event, err);
        if (code != TARN_OK)
            return code;
        if (event.token != TARN_J_KEY)
            return tarn_fail_field(err, "files", "this is not a manifest: it lists no files");
        bool found = strcmp(event.text, "files") == 0;
        code = found ? tarn_jsonr_next(pull->json, &event, err) : tarn_jsonr_skip(pull->json, err);
        if (found)
            return code;
    }
    return code;
}

static tarn_code open_again(struct tarn_manifest_pull *pull, struct tarn_place *place, bool *same,
                            struct tarn_err *err)
{
    struct tarn_object object = { 0 };

    tarn_jsonr_free(pull->json);
    tarn_reader_free(pull->reader);
    pull->json = NULL;
    pull->reader = NULL;
    tarn_code code = tarn_place_reader(place, TARN_DOC_MANIFEST, &pull->reader, &object, err);
    if (code != TARN_OK)
        return code;
    *same = strcmp(object.token, pull->object.token) == 0;
    pull->json = tarn_jsonr_new(tarn_reader_fill, pull->reader, 0);
    return pull->json ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_manifest_pull_open(struct tarn_place *place, struct tarn_manifest_pull **out, struct tarn_err *err)
{
    TARN_AUTO(manifest_pull) struct tarn_manifest_pull *pull = calloc(1, sizeof *pull);
    bool same = false;
    tarn_code code = pull ? TARN_OK : tarn_fail_oom(err);

    for (int i = 0; code == TARN_OK && !same && i < TRIES; i++) {
        tarn_manifest_head_done(&pull->head);
        code = tarn_manifest_read_at(place, &pull->head, &pull->object, NULL, NULL, err);
        if (code == TARN_OK)
            code = open_again(pull, place, &same, err);
    }
    if (code == TARN_OK && !same)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, TARN_DOC_MANIFEST " keeps changing while it is read");
    if (code == TARN_OK)
        code = find_files(pull, err);
    if (code == TARN_OK)
        *out = tarn_take(&pull);
    return code;
}

const struct tarn_manifest_head *tarn_manifest_pull_head(const struct tarn_manifest_pull *pull)
{
    return &pull->head;
}

const char *tarn_manifest_pull_token(const struct tarn_manifest_pull *pull) { return pull->object.token; }

tarn_code tarn_manifest_pull_next(struct tarn_manifest_pull *pull, const struct tarn_file **file,
                                  struct tarn_err *err)
{
    struct tarn_jsonr_event event;

    *file = NULL;
    if (pull->at_end)
        return TARN_OK;
    tarn_code code = tarn_jsonr_next(pull->json, &event, err);
    if (code != TARN_OK)
        return code;
    pull->at_end = event.token == TARN_J_ARRAY_END;
    if (pull->at_end)
        return TARN_OK;
    code = tarn_doc_file_read(pull->json, &event, &pull->entry, &pull->view, err);
    if (code == TARN_OK)
        *file = &pull->view;
    return code;
}
