/*
 * tid.h: the calling thread's id, also where the kernel may not be asked.
 */
#ifndef GNOMON_TID_H
#define GNOMON_TID_H

/* 0: not known. Any thread. */
int tid_own(void);

#endif
