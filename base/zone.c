/* zone.c - the files of the IANA database (TZif, RFC 8536): the changes
 * they list, and after the last of those the rule at their end. */
#include "base/zone.h"
#include "base/own.h"
#include "base/zone_rule.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 44, FILE_MAX = 1 << 20, CHANGES_MAX = 10000, TYPES_MAX = 256 };

struct change { int64_t at_s; int32_t offset_s; };
struct tarn_zone {
    struct tarn_zone *next;
    char name[TARN_ZONE_NAME_MAX + 1];
    int32_t first_offset_s;  /* before the first change */
    struct change *changes;  /* owned, ascending */
    size_t count;
    struct tarn_zone_rule rule; /* after the last change */
    bool has_rule;
};

static void zone_free(struct tarn_zone *zone)
{
    if (zone)
        free(zone->changes);
    free(zone);
}
static void zone_freep(struct tarn_zone **zone) { zone_free(*zone); }

/* --- one file --- */

/* Big-endian, two's complement. */
static int64_t number(const unsigned char *at, int bytes)
{
    uint64_t value = at[0] & 0x80 ? UINT64_MAX : 0;

    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return (int64_t)value;
}

/* How much follows a head, by the width of its instants. */
struct counts { size_t isut, isstd, leap, changes, types, names; };

static bool read_counts(const unsigned char *data, size_t len, struct counts *out)
{
    size_t *const k_to[] = { &out->isut, &out->isstd, &out->leap, &out->changes, &out->types, &out->names };

    if (len < HEAD || memcmp(data, "TZif", 4) != 0)
        return false;
    for (size_t i = 0; i < TARN_COUNT(k_to); i++) {
        int64_t value = number(data + 20 + 4 * i, 4);
        if (value < 0 || value > CHANGES_MAX)
            return false;
        *k_to[i] = (size_t)value;
    }
    return out->types >= 1 && out->types <= TYPES_MAX && out->leap == 0;
}

static size_t block_size(const struct counts *c, size_t width)
{
    return c->changes * (width + 1) + c->types * 6 + c->names + c->leap * (width + 4) + c->isstd + c->isut;
}

static bool read_block(struct tarn_zone *zone, const unsigned char *at, const struct counts *c, size_t width)
{
    const unsigned char *kinds = at + c->changes * width, *types = kinds + c->changes;

    zone->changes = calloc(c->changes + 1, sizeof *zone->changes);
    if (!zone->changes)
        return false;
    zone->first_offset_s = (int32_t)number(types, 4);
    for (size_t i = 0; i < c->changes; i++) {
        if (kinds[i] >= c->types)
            return false;
        zone->changes[i].at_s = number(at + i * width, (int)width);
        zone->changes[i].offset_s = (int32_t)number(types + 6 * (size_t)kinds[i], 4);
        if (i > 0 && zone->changes[i].at_s <= zone->changes[i - 1].at_s)
            return false;
    }
    zone->count = c->changes;
    return true;
}

/* The rule stands between two line ends; an empty one says nothing. */
static bool read_footer(struct tarn_zone *zone, const unsigned char *at, size_t len)
{
    char text[128];
    const unsigned char *end = len > 1 && at[0] == '\n' ? memchr(at + 1, '\n', len - 1) : NULL;

    if (!end || (size_t)(end - at) > sizeof text)
        return end != NULL || len == 0;
    snprintf(text, sizeof text, "%.*s", (int)(end - at - 1), (const char *)at + 1);
    if (text[0] == '\0')
        return true;
    zone->has_rule = tarn_zone_rule_parse(text, &zone->rule);
    return zone->has_rule;
}

/* Version 1 has instants of 4 bytes; the later ones repeat everything with 8 and end with the rule. */
static bool parse(struct tarn_zone *zone, const unsigned char *data, size_t len)
{
    struct counts c;

    if (!read_counts(data, len, &c) || block_size(&c, 4) > len - HEAD)
        return false;
    if (data[4] == '\0')
        return read_block(zone, data + HEAD, &c, 4);
    size_t skipped = HEAD + block_size(&c, 4);
    data += skipped;
    len -= skipped;
    if (!read_counts(data, len, &c) || block_size(&c, 8) > len - HEAD ||
        !read_block(zone, data + HEAD, &c, 8))
        return false;
    size_t used = HEAD + block_size(&c, 8);
    return read_footer(zone, data + used, len - used);
}

static ssize_t read_file(const char *path, unsigned char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t got = fd < 0 ? -1 : 1;

    while (got > 0 && len < size) {
        got = read(fd, out + len, size - len);
        len += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return got < 0 ? -1 : (ssize_t)len;
}

static const char *const k_folders[] = { "/usr/share/zoneinfo", "/usr/lib/zoneinfo",
                                         "/usr/share/lib/zoneinfo" };

/* "+05:30": the same offset for ever. */
static bool is_offset(const char *name, int32_t *out)
{
    static const char k_form[] = "+00:00";
    int digits[4], count = 0;

    for (size_t i = 0; i < sizeof k_form; i++) {
        bool is_digit = name[i] >= '0' && name[i] <= '9';
        if (i == 0 ? name[i] != '+' && name[i] != '-' : k_form[i] == '0' ? !is_digit : name[i] != k_form[i])
            return false;
        if (is_digit)
            digits[count++] = name[i] - '0';
    }
    int32_t hours = digits[0] * 10 + digits[1], minutes = digits[2] * 10 + digits[3];
    *out = (hours * 60 + minutes) * (name[0] == '-' ? -60 : 60);
    return hours <= 14 && minutes <= 59;
}

/* NULL: there is none, or it is no zone. */
static struct tarn_zone *load(const char *name)
{
    __attribute__((cleanup(zone_freep))) struct tarn_zone *zone = calloc(1, sizeof *zone);
    TARN_AUTO(mem) unsigned char *data = malloc(FILE_MAX);
    char path[160];

    if (!zone || !data)
        return NULL;
    snprintf(zone->name, sizeof zone->name, "%s", name);
    if (strcmp(name, "UTC") == 0 || is_offset(name, &zone->first_offset_s))
        return tarn_take(&zone);
    for (size_t i = 0; i < TARN_COUNT(k_folders); i++) {
        snprintf(path, sizeof path, "%s/%s", k_folders[i], name);
        ssize_t len = read_file(path, data, FILE_MAX);
        if (len <= 0)
            continue;
        return parse(zone, data, (size_t)len) ? tarn_take(&zone) : NULL;
    }
    return NULL;
}

/* --- all that were asked for --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tarn_zone *zones;

/* A name of the database, never a way out of its folder.
 * "right/..." counts leap seconds, which no instant here does. */
static bool is_name(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len > TARN_ZONE_NAME_MAX || strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                                             "0123456789_+-/") != len)
        return false;
    return name[0] != '/' && name[len - 1] != '/' && !strstr(name, "//") && strncmp(name, "right/", 6) != 0;
}

static struct tarn_zone *find(const char *name)
{
    struct tarn_zone *zone = zones;

    while (zone && strcmp(zone->name, name) != 0)
        zone = zone->next;
    return zone;
}

tarn_code tarn_zone_get(const char *name, const struct tarn_zone **out, struct tarn_err *err)
{
    struct tarn_zone *zone = NULL;
    int32_t offset;

    if (is_name(name) || is_offset(name, &offset)) {
        pthread_mutex_lock(&lock);
        zone = find(name);
        if (!zone) {
            zone = load(name);
            if (zone) {
                zone->next = zones;
                zones = zone;
            }
        }
        pthread_mutex_unlock(&lock);
    }
    if (!zone)
        return tarn_fail(err, TARN_INVALID, "'%.64s' is no time zone known here, such as Europe/Berlin", name);
    *out = zone;
    return TARN_OK;
}

/* --- asked --- */

static int64_t floor_div(int64_t value, int64_t by) { return value / by - (value % by < 0); }

static int32_t offset_s(const struct tarn_zone *zone, int64_t at_s)
{
    size_t low = 0, high = zone->count;

    if (zone->count == 0 || at_s < zone->changes[0].at_s)
        return zone->count == 0 && zone->has_rule ? tarn_zone_rule_offset(&zone->rule, at_s)
                                                  : zone->first_offset_s;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (zone->changes[middle].at_s <= at_s)
            low = middle;
        else
            high = middle;
    }
    if (low == zone->count - 1 && zone->has_rule)
        return tarn_zone_rule_offset(&zone->rule, at_s);
    return zone->changes[low].offset_s;
}

int64_t tarn_zone_offset_ms(const struct tarn_zone *zone, int64_t utc_ms)
{
    return zone ? offset_s(zone, floor_div(utc_ms, TARN_SECOND_MS)) * TARN_SECOND_MS : 0;
}

struct tarn_local tarn_zone_local(const struct tarn_zone *zone, int64_t utc_ms)
{
    int64_t wall = utc_ms + tarn_zone_offset_ms(zone, utc_ms);
    int64_t days = floor_div(wall, TARN_DAY_MS), weeks_day = (days + 3) % 7; /* 1970 began on a Thursday */

    return (struct tarn_local){ days, (int)(weeks_day < 0 ? weeks_day + 7 : weeks_day),
                                wall - days * TARN_DAY_MS };
}

int64_t tarn_zone_instant(const struct tarn_zone *zone, int64_t days, int64_t of_day_ms, bool later)
{
    int64_t wall = days * TARN_DAY_MS + of_day_ms;
    int64_t before = wall - tarn_zone_offset_ms(zone, wall - TARN_DAY_MS);
    int64_t after = wall - tarn_zone_offset_ms(zone, wall + TARN_DAY_MS);
    bool before_fits = before + tarn_zone_offset_ms(zone, before) == wall;
    bool after_fits = after + tarn_zone_offset_ms(zone, after) == wall;

    if (before_fits && after_fits)
        return (before < after) == later ? after : before;
    return after_fits ? after : before;
}
