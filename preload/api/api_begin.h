/*
 * api_begin.h: initialisation of the API.
 */
#ifndef GNOMON_API_BEGIN_H
#define GNOMON_API_BEGIN_H

#include <stdbool.h>
#include <stdint.h>

/* In the area, so that a forked child starts without them. api_place: call it
 * before any other thread exists. */
#define API_POOLS_BYTES 4096
extern struct pools *api_pools;		/* api_pool.c */
extern _Atomic uint32_t *api_dumps;	/* 1: a thread is making a dump */
void api_place(void);

/* For the start of the recorder: whether the program refers to functions that
 * return numbers. */
bool api_stats_wanted(void);

#endif
