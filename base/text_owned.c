/* text_owned.c - copies of texts as structs own them: none where there is none, and no fault goes unseen. */
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

char *tarn_text_copy(const char *text, bool *failed)
{
    char *copy = text ? strdup(text) : NULL;

    *failed = *failed || (text && !copy);
    return copy;
}

bool tarn_text_set(char **member, const char *text)
{
    bool failed = false;
    char *copy = tarn_text_copy(text, &failed);

    if (failed)
        return false;
    free(*member);
    *member = copy;
    return true;
}

tarn_code tarn_text_own(char **member, char *text, struct tarn_err *err)
{
    if (!text)
        return tarn_fail_oom(err);
    free(*member);
    *member = text;
    return TARN_OK;
}
