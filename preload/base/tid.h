/*
 * tid.h: the calling thread's id, also if a filter forbids gettid.
 */
#ifndef GNOMON_TID_H
#define GNOMON_TID_H

/* 0: unknown. Any thread. */
int tid_own(void);

#endif
