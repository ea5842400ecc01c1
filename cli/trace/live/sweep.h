/*
 * sweep.h: what is to become of live files whose recorder and program are dead.
 */
#ifndef GNOMON_SWEEP_H
#define GNOMON_SWEEP_H

/* Those of this user in `directory`: one whose trace lies in the directory
 * `traces` is folded into it, one whose trace is gone is removed. Says nothing;
 * looks at no more than 1000 of them. */
void sweep_live_files(const char *directory, const char *traces);

#endif
