/*
 * stale_cpus.h: removes stale processors from this process's mm_cpumask.
 */
#ifndef GNOMON_STALE_CPUS_H
#define GNOMON_STALE_CPUS_H

#include "preload/ring/producer.h"

/*
 * The tasks that start the recorder share this process's memory for a while.
 * After they have left it, this lets the kernel forget the processors that they
 * ran on; once in a process. Any thread, also signal handlers; system calls
 * unless forbidden (forbidden.h), no wait.
 */
void stale_cpus_drop(struct producer *p);

#endif
