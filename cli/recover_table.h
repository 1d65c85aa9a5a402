/* recover_table.h - tarn recover --table. */
#ifndef TARN_CLI_RECOVER_TABLE_H
#define TARN_CLI_RECOVER_TABLE_H
#include "cli/command.h"

int tarn_recover_one(struct tarn_cli *cli);
#endif
