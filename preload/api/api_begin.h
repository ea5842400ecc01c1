/*
 * api_begin.h: what the API needs as the library begins.
 */
#ifndef GNOMON_API_BEGIN_H
#define GNOMON_API_BEGIN_H

#include <stdbool.h>
#include <stdint.h>

/* In the area, as a forked child has none of it. Before any other thread. */
#define API_POOLS_BYTES 4096
extern struct pools *api_pools;		/* api_pool.c */
extern _Atomic uint32_t *api_dumps;	/* 1: a thread is at a dump */
void api_place(void);

/* As the recorder begins: whether the program is going to ask for numbers. */
bool api_numbers_wanted(void);

#endif
