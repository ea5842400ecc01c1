/*
 * stale_cpus.h: processors that the kernel takes for this process's.
 */
#ifndef GNOMON_STALE_CPUS_H
#define GNOMON_STALE_CPUS_H

#include "preload/ring/recorder.h"

/*
 * The tasks that started the recorder have left this process's memory: the
 * kernel forgets the processors that they ran on. Once in a process, and not
 * before they have left. Any thread, also signal handlers; some system calls,
 * unless they are forbidden (forbidden.h), no wait.
 */
void stale_cpus_drop(struct recorder *r);

#endif
