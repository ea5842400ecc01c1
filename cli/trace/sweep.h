/*
 * sweep.h: remove live files that nobody can need any more.
 */
#ifndef GNOMON_SWEEP_H
#define GNOMON_SWEEP_H

/* Those of this user in the directory whose recorder and program are dead and
 * whose trace is gone. Says nothing; looks at no more than 1000 names. */
void sweep_live_files(const char *directory);

#endif
