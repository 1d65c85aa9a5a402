/* run_cli.h - the command line inside the test's process, its words caught. */
#ifndef TARN_TESTS_RUN_CLI_H
#define TARN_TESTS_RUN_CLI_H

/* `words` are separated by blanks; the exit code. Output is valid until the next call. */
int tarn_run_cli(const char *words);
const char *tarn_cli_stdout(void);
const char *tarn_cli_stderr(void);
#endif
