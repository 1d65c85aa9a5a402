/* faultvfs.h - a VFS over SQLite's own that fails on demand: a full disk, a disk that does not sync. One for
 * the process; arm and disarm from any thread. */
#ifndef TARN_TESTS_FAULTVFS_H
#define TARN_TESTS_FAULTVFS_H

#define TARN_FAULT_VFS "tarn-fault"

enum tarn_fault_op { TARN_FAULT_NONE, TARN_FAULT_READ, TARN_FAULT_WRITE, TARN_FAULT_SYNC };
enum tarn_fault_file { TARN_FAULT_MAIN = 1, TARN_FAULT_WAL = 2, TARN_FAULT_ANY = 3 };

/* Registers it; again is fine. */
void tarn_fault_install(void);
/* After `after` operations of that kind on such files the next `count` fail with `rc` (SQLITE_FULL,
 * SQLITE_IOERR_WRITE, ...). A failing write has written half; a failing sync has synced nothing. */
void tarn_fault_arm(enum tarn_fault_op op, enum tarn_fault_file file, int after, int count, int rc);
void tarn_fault_disarm(void);
/* How many failed since armed. */
int tarn_fault_hits(void);
#endif
