/*
 * stale_cpus.h: processors that the kernel takes for this process's.
 */
#ifndef GNOMON_STALE_CPUS_H
#define GNOMON_STALE_CPUS_H

#include "preload/ring/recorder.h"

/*
 * Once the tasks that started the recorder have left this process's memory, the
 * kernel forgets the processors that they ran on; once in a process. Any thread,
 * also signal handlers; system calls unless forbidden (forbidden.h), no wait.
 */
void stale_cpus_drop(struct recorder *r);

#endif
