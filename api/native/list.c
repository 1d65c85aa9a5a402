/* list.c - see list.h. One row more than the page holds is asked for: it tells whether a next page exists. */
#include "api/native/list.h"
#include <stdlib.h>

#define ROWS_A_READ 500 /* short enough that no reader pins the database's log */

bool tarn_list_row(struct tarn_list *list)
{
    list->rows++;
    if (list->size > 0 && list->told == list->size) {
        list->more = true;
        return false;
    }
    list->told++;
    return true;
}

void tarn_list_skip(struct tarn_list *list) { list->rows++; }

static void begin(struct tarn_list *list)
{
    list->begun = true;
    if (list->form != TARN_LIST_JSON)
        return;
    if (list->head)
        tarn_buf_adds(list->out, list->head);
    else
        tarn_jsonw_object(&list->w);
    list->w.comma = list->head != NULL;
    tarn_jsonw_key(&list->w, list->key);
    tarn_jsonw_array(&list->w);
}

static void end(struct tarn_list *list)
{
    if (list->form != TARN_LIST_JSON)
        return;
    tarn_jsonw_array_end(&list->w);
    char *position = list->more ? list->token(list) : NULL;
    char *token = position ? tarn_page_token(position) : NULL;
    if (list->more && !token)
        list->out->failed = true;
    tarn_jsonw_kstr(&list->w, list->token_key ? list->token_key : "next_page_token", token);
    tarn_jsonw_object_end(&list->w);
    free(position);
    free(token);
}

static tarn_code produce(void *state, struct tarn_buf *out, bool *is_end, struct tarn_err *err)
{
    struct tarn_list *list = state;
    int64_t left = list->size > 0 ? list->size - list->told + 1 : ROWS_A_READ, told = list->told;

    list->out = out;
    list->w.out = out;
    list->ask = left < ROWS_A_READ && !list->skips ? left : ROWS_A_READ;
    list->rows = 0;
    if (!list->begun)
        begin(list);
    tarn_code code = list->pull ? list->pull(list, err) : tarn_store_read(list->store, list->page, list, err);
    if (code != TARN_OK)
        return code;
    list->skips = list->rows > list->told - told;
    bool is_last = list->more || list->rows < list->ask;
    if (is_last)
        end(list);
    code = tarn_buf_check(out, err);
    if (code == TARN_OK)
        *is_end = is_last;
    return code;
}

static void free_list(void *state)
{
    struct tarn_list *list = state;

    free(list->head);
    list->free(list);
}

void tarn_list_reply(struct tarn_list *list, char *head, const char *key, struct tarn_reply *reply)
{
    list->head = head;
    list->key = key;
    list->w = tarn_jsonw_to(NULL);
    reply->status = 200;
    reply->stream = (struct tarn_stream){ produce, free_list, list };
}

tarn_code tarn_list_answer(struct tarn_list *list, char *head, const char *key,
                           const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    tarn_list_reply(list, head, key, reply);
    if (list->form == TARN_LIST_JSON || list->size == 0)
        return TARN_OK;
    reply->stream = (struct tarn_stream){ 0 };
    for (bool is_end = false; !is_end && code == TARN_OK;)
        code = produce(list, &reply->body, &is_end, err);
    if (code == TARN_OK && list->more) {
        TARN_AUTO(mem) char *position = list->token(list);
        code = position ? tarn_reply_next(reply, req, position, err) : tarn_fail_oom(err);
    }
    free_list(list);
    return code;
}
