/* settings_etag.c - the table's entity tag: its version tells of commits, its revision of
 * everything else, and the head of its uuid keeps it from naming a later table of the same name. */
#include "lake/settings.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void tarn_table_etag(const struct tarn_table *table, char out[TARN_ETAG_TEXT])
{
    snprintf(out, TARN_ETAG_TEXT, "\"%" PRId64 ".%" PRId64 ".%.8s\"", table->version, table->revision,
             table->uuid);
}

bool tarn_etag_matches(const char *header, const char *etag)
{
    size_t len = strlen(etag);

    for (const char *c = header; *c != '\0';) {
        c += strspn(c, " \t,");
        if (*c == '*')
            return true;
        if (c[0] == 'W' && c[1] == '/')
            c += 2;
        if (strncmp(c, etag, len) == 0 && strchr(" \t,", c[len]))
            return true;
        c += strcspn(c, ",");
    }
    return false;
}

tarn_code tarn_if_match(const struct tarn_table *table, const char *header, struct tarn_err *err)
{
    char etag[TARN_ETAG_TEXT];

    tarn_table_etag(table, etag);
    if (!header || tarn_etag_matches(header, etag))
        return TARN_OK;
    return tarn_fail_code_field(err, TARN_PRECONDITION_FAILED, "If-Match", "the table's tag is now %s", etag);
}
