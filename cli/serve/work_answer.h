/*
 * work_answer.h: what a job came to, as HTTP has it. One thread, the front's.
 */
#ifndef GNOMON_WORK_ANSWER_H
#define GNOMON_WORK_ANSWER_H

#include "cli/serve/work_job.h"

/* Of a job whose worker has ended, with this wait status. Takes its output. */
struct answer *work_answer(const struct work *work, struct job *job, int status);
/* Bytes that it may have. */
uint64_t work_answer_max(const struct job *job);
/* What a process said, from the memory file of its standard error; to be
 * freed. */
char *work_answer_said(int fd);

#endif
