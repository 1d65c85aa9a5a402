/* contract.h - data contracts as files that the command line reads. */
#ifndef TARN_CLI_CONTRACT_H
#define TARN_CLI_CONTRACT_H
#include "formats/contract/contract.h"
#include <stdio.h>

/* A contract in YAML or JSON ("-": standard input). `table` may be dotted, NULL: the only element. Errors begin with file
 * and line. *out is the caller's to end with tarn_contract_done. */
TARN_MUST tarn_code tarn_contract_file(const char *file, const char *table, struct tarn_contract *out,
                                       struct tarn_err *err);
/* What it says as members of a registration; whatever `body` holds stays. false: no memory. */
bool tarn_contract_members(const struct tarn_contract *contract, json_t *body);
/* What was taken of it, in one line. */
void tarn_contract_print(const struct tarn_contract *contract, FILE *stream);
/* What was not taken, a line each. */
void tarn_contract_print_remarks(const struct tarn_contract *contract, FILE *stream);
#endif
