/*
 * api_init.h: what the start of the recorder calls to initialise the API. Only
 * by the thread that starts it.
 */
#ifndef GNOMON_API_INIT_H
#define GNOMON_API_INIT_H

#include <stdbool.h>
#include <stdint.h>

/* In the area: a forked child finds zeros, that is, no pools and no dump.
 * api_alloc allocates both; call it before any other thread exists. */
#define API_POOLS_BYTES 4096
extern struct pools *api_pools;		/* api_pool.c */
extern _Atomic uint32_t *api_dumps;	/* 1: a thread is making a dump */
void api_alloc(void);

/* Whether the program, or a library that stays mapped, refers to functions of
 * api_stats.c or to dumps: then the recorder maintains the block table from the
 * start on. */
bool api_stats_wanted(void);

#endif
