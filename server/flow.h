/* flow.h - the state machine of a request: body, then a read on a worker, or
 * parse, check, change, after, publication, answer, each where it belongs. No thread waits. */
#ifndef TARN_SERVER_FLOW_H
#define TARN_SERVER_FLOW_H
#include "server/task.h"

#define TARN_INLINE_BODY_BYTES (64u << 10) /* larger bodies are parsed on a worker */

/* Loop: as many steps as belong to the loop. true: the task is finished (code, reply); false: the next
 * step lies elsewhere: depart, suspend, then tarn_flow_launch. */
bool tarn_flow_advance(struct tarn_task *task);
/* Hands the next step over. The task lands (server/task.h) when the loop has something to do again. */
void tarn_flow_launch(struct tarn_task *task);
#endif
