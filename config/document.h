/* document.h - a YAML document (JSON is YAML too) from outside as a JSON tree, and the lines
 * that its members stand on, so that whoever reads the tree can tell where a fault is. */
#ifndef TARN_CONFIG_DOCUMENT_H
#define TARN_CONFIG_DOCUMENT_H
#include "base/err.h"
#include "base/own.h"
#include <jansson.h>
#include <stddef.h>

#define TARN_DOCUMENT_BYTES_MAX ((size_t)16 << 20)

struct tarn_document;
/* `text` must stay. TARN_INVALID beginning with the line: not YAML, several
 * documents, a key that is no text or there twice, nested too deep, too large. */
TARN_MUST tarn_code tarn_document_parse(const char *text, size_t len, struct tarn_document **out,
                                        struct tarn_err *err);
/* Borrowed; json null when the document is empty. */
const json_t *tarn_document_json(const struct tarn_document *document);
/* The line, from 1, of a member named as errors do
 * ("schema[0].properties[2].required"), or of what is there of its way. */
size_t tarn_document_line(const struct tarn_document *document, const char *field);
void tarn_document_free(struct tarn_document *document);
TARN_DEFINE_AUTO(document, struct tarn_document)
#endif
