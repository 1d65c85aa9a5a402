/* contract_owner.c - who answers for the table: `owner`, the team's name, a member whose role is to own, or the custom
 * property `owner`, in this order. Until version 3.1 `team` was the list of its members. */
#include "formats/contract/reading.h"
#include <string.h>
#include <strings.h>

static const char *const k_member_keys[] = { "id", "username", "name", "description", "role", "dateIn", "dateOut",
                                             "replacedByUsername", "tags", "customProperties",
                                             "authoritativeDefinitions", NULL };
static const char *const k_team_keys[] = { "id", "name", "description", "members", "tags", "customProperties",
                                           "authoritativeDefinitions", NULL };

/* One who has left owns nothing. */
static tarn_code read_member(struct tarn_contract_at *at, const json_t *member, const char **out, struct tarn_err *err)
{
    const char *username = NULL, *name = NULL, *role = NULL, *left = NULL;
    tarn_code code = tarn_at_keys(at, member, k_member_keys, err);

    if (code == TARN_OK)
        code = tarn_at_text(at, member, "username", &username, err);
    if (code == TARN_OK)
        code = tarn_at_text(at, member, "name", &name, err);
    if (code == TARN_OK)
        code = tarn_at_text(at, member, "role", &role, err);
    if (code == TARN_OK)
        code = tarn_at_text(at, member, "dateOut", &left, err);
    if (code == TARN_OK && !*out && role && strcasestr(role, "owner") && !left)
        *out = username ? username : name;
    return code;
}

static tarn_code read_members(struct tarn_contract_at *at, const json_t *members, const char **out, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < json_array_size(members) && code == TARN_OK; i++) {
        size_t before = tarn_at_enter(at, NULL, i);
        code = read_member(at, json_array_get(members, i), out, err);
        tarn_at_leave(at, before);
    }
    return code;
}

static tarn_code read_team_object(struct tarn_contract_at *at, const json_t *team, const char **out,
                                  struct tarn_err *err)
{
    const json_t *members = NULL;
    tarn_code code = tarn_at_keys(at, team, k_team_keys, err);

    if (code == TARN_OK)
        code = tarn_at_text(at, team, "name", out, err);
    if (code == TARN_OK)
        code = tarn_at_list(at, team, "members", &members, err);
    if (code != TARN_OK)
        return code;
    size_t before = tarn_at_enter(at, "members", 0);
    code = read_members(at, members, out, err);
    tarn_at_leave(at, before);
    return code;
}

static tarn_code read_team(struct tarn_contract_at *at, const json_t *document, const char **out, struct tarn_err *err)
{
    const json_t *team = json_object_get(document, "team");

    if (!team || json_is_null(team))
        return TARN_OK;
    if (!json_is_array(team) && !json_is_object(team))
        return tarn_at_fail(at, "team", err, "must hold keys with values, or be a list of members");
    size_t before = tarn_at_enter(at, "team", 0);
    tarn_code code = json_is_array(team) ? read_members(at, team, out, err) : read_team_object(at, team, out, err);
    tarn_at_leave(at, before);
    return code;
}

static tarn_code read_custom(struct tarn_contract_at *at, const json_t *document, const char **out, struct tarn_err *err)
{
    const json_t *list = NULL;
    tarn_code code = tarn_at_list(at, document, "customProperties", &list, err);

    for (size_t i = 0; i < json_array_size(list) && code == TARN_OK; i++) {
        const json_t *item = json_array_get(list, i);
        const char *property = json_string_value(json_object_get(item, "property"));
        if (!*out && property && tarn_at_same(property, "owner"))
            *out = json_string_value(json_object_get(item, "value"));
    }
    return code;
}

tarn_code tarn_contract_owner(struct tarn_contract_at *at, const json_t *document, struct tarn_err *err)
{
    const char *owner = NULL, *team = NULL, *custom = NULL;
    tarn_code code = tarn_at_text(at, document, "owner", &owner, err);

    if (code == TARN_OK)
        code = read_team(at, document, &team, err);
    if (code == TARN_OK)
        code = read_custom(at, document, &custom, err);
    if (code != TARN_OK)
        return code;
    owner = owner ? owner : team ? team : custom;
    if (!owner || !*owner)
        return TARN_OK;
    at->out->owner = strdup(owner);
    return at->out->owner ? TARN_OK : tarn_fail_oom(err);
}
