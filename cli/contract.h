/* contract.h - data contracts as files that the command line reads. */
#ifndef TARN_CLI_CONTRACT_H
#define TARN_CLI_CONTRACT_H
#include "base/buf.h"
#include "formats/contract/contract.h"
#include <stdio.h>

/* A contract in YAML or JSON, as tarn_read_text_file gives it; `file` begins errors, then the line.
 * `table`: the last level of the table's name. *out is the caller's to end with tarn_contract_done. */
TARN_MUST tarn_code tarn_contract_text(const char *file, const struct tarn_buf *text, const char *table,
                                       struct tarn_contract *out, struct tarn_err *err);
/* What it says as members of a registration; whatever `body` holds stays. false: no memory. */
bool tarn_contract_members(const struct tarn_contract *contract, json_t *body);
/* What was taken of it, in one line. */
void tarn_contract_print(const struct tarn_contract *contract, FILE *stream);
/* What was not taken, a line each. */
void tarn_contract_print_remarks(const struct tarn_contract *contract, FILE *stream);
#endif
