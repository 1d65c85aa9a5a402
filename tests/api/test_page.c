/* Page tokens come back as they went, and nothing else passes for one. */
#include "api/http.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

Test(page, a_token_gives_its_content_back)
{
    static const char *const k_contents[] = { "a", "ab", "abc", "sales.\"a.b\"\torders", "\xc3\xa4 12 \x01" };
    for (size_t i = 0; i < TARN_COUNT(k_contents); i++) {
        TARN_ERR(err);
        char *content = NULL, *token = tarn_page_token(k_contents[i]);
        cr_expect(eq(sz, strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), strlen(token)));
        cr_assert(eq(int, (int)tarn_page_content(token, &content, &err), (int)TARN_OK));
        cr_expect(eq(str, content, (char *)k_contents[i]));
        free(content);
        free(token);
    }
}

Test(page, a_guess_or_a_cut_copy_is_refused_by_name)
{
    static const char *const k_bad[] = { "a", "abcd", "AAAAAAA", "AAAAAAAA", "####", "YWJjZA==", "bm90IG91cnM" };
    for (size_t i = 0; i < TARN_COUNT(k_bad); i++) {
        TARN_ERR(err);
        char *content = NULL;
        cr_expect(eq(int, (int)tarn_page_content(k_bad[i], &content, &err), (int)TARN_INVALID), "%s", k_bad[i]);
        cr_expect(eq(str, err.field, "page_token"));
        cr_expect(eq(ptr, content, NULL));
    }
    TARN_ERR(err);
    char *content = NULL, *token = tarn_page_token("orders");
    token[strlen(token) - 1] = '\0';
    cr_expect(eq(int, (int)tarn_page_content(token, &content, &err), (int)TARN_INVALID));
    free(token);
}
