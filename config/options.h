/* options.h - the option table and how a text becomes a member of struct tarn_config; private to config/. */
#ifndef TARN_CONFIG_OPTIONS_H
#define TARN_CONFIG_OPTIONS_H
#include "config/config.h"

enum tarn_option_type {
    TARN_O_TEXT,     /* char * */
    TARN_O_WORD,     /* char *, one of `words` */
    TARN_O_LIST,     /* char ** and the size_t behind it */
    TARN_O_BOOL,     /* bool */
    TARN_O_NUMBER,   /* int64_t */
    TARN_O_DURATION, /* int64_t, ms */
    TARN_O_BYTES,    /* int64_t, bytes */
    TARN_O_OBJECT    /* json_t *, object */
};

struct tarn_option {
    const char *key; /* "scan.interval": flag --scan-interval, variable TARN_SCAN_INTERVAL */
    const char *flag; /* another flag for it, without dashes; NULL: none */
    enum tarn_option_type type;
    size_t offset;        /* in struct tarn_config */
    const char *standard; /* default as text; NULL: see `sentence` */
    int64_t min, max;     /* both inclusive; of numbers, durations (ms), bytes */
    const char *words;    /* TARN_O_WORD: separated by blanks */
    const char *sentence;
};
extern const struct tarn_option tarn_options[];
extern const size_t tarn_options_count;
#define TARN_OPTIONS_MAX 64 /* rows at most */

/* NULL: there is none. */
const struct tarn_option *tarn_option_by_key(const char *key);
/* `name` without the dashes. */
const struct tarn_option *tarn_option_by_flag(const char *name);
/* The key most like `name`, or NULL when none is near. */
const char *tarn_option_near(const char *name);
/* "--scan-interval" (the short form where there is one), "TARN_SCAN_INTERVAL". */
void tarn_option_flag(const struct tarn_option *option, char out[64]);
void tarn_option_variable(const struct tarn_option *option, char out[64]);
const char *tarn_option_type_name(const struct tarn_option *option);

/* Give the option a value. A list grows by one; `where` ("tarn.yaml:3", "--listen") begins the error. */
tarn_code tarn_option_set(struct tarn_config *config, const struct tarn_option *option, const char *text,
                          const char *where, struct tarn_err *err);
/* What the object holds; TARN_INVALID with the field, without a place. */
tarn_code tarn_option_judge(const struct tarn_config *config, const struct tarn_option *option,
                            const json_t *object, struct tarn_err *err);
/* The object is stolen, also on failure; it was judged. */
tarn_code tarn_option_set_object(struct tarn_config *config, const struct tarn_option *option, json_t *object,
                                 const char *where, struct tarn_err *err);
/* Empty a list before a source of higher rank fills it. */
void tarn_option_clear(struct tarn_config *config, const struct tarn_option *option);

/* The keys of a YAML file. */
tarn_code tarn_config_read_yaml(struct tarn_config *config, const char *path, struct tarn_err *err);
/* What no single option can judge: defaults that hang on others, roots against the data folder, auth against
 * the address. Makes locations canonical. */
tarn_code tarn_config_finish(struct tarn_config *config, struct tarn_err *err);
#endif
