/* version.h - of the program; openapi.yaml and CHANGELOG.md say the same. */
#ifndef TARN_BASE_VERSION_H
#define TARN_BASE_VERSION_H

#define TARN_VERSION "0.1.0"
#endif
