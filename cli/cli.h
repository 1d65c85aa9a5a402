/* cli.h - every command of `tarn` but serve. */
#ifndef TARN_CLI_CLI_H
#define TARN_CLI_CLI_H

/* argv as main has it. The exit code: 0 done; check and status 0 ok, 1
 * warning, 2 error, 3 unknown; 64 wrong usage; else 1 for what went wrong. */
int tarn_cli_main(int argc, char **argv);
#endif
