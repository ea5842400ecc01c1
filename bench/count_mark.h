/*
 * count_mark.h: the marks at which callgrind or a qemu plugin begins and ends
 * counting (count_plugin.c).
 */
#ifndef GNOMON_BENCH_COUNT_MARK_H
#define GNOMON_BENCH_COUNT_MARK_H

/* The first argument of getppid, which has none. */
#define COUNT_MARK 0x676e6f6du

#endif
