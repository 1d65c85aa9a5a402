/* serve.h - `tarn serve`. */
#ifndef TARN_SERVER_SERVE_H
#define TARN_SERVER_SERVE_H

/* argv: the flags after the command. The exit code. */
int tarn_serve(int argc, char **argv);
#endif
