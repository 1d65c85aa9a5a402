/* unregistered.c - data that lies there and that nobody told the table about. The facts hold only files older than
 * the grace time. */
#include "monitors/judge.h"

void tarn_judge_unregistered(struct tarn_judging *j)
{
    if (j->facts->state == TARN_FACTS_READ && j->facts->format == TARN_FORMAT_MANIFEST)
        tarn_judge_suspects(j, "unregistered_data_file", &j->facts->unregistered, TARN_SEV_OK);
}
