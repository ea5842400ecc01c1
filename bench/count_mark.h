/*
 * count_mark.h: what is counted by callgrind or a plugin of qemu's begins and
 * ends with a mark (count_plugin.c).
 */
#ifndef GNOMON_BENCH_COUNT_MARK_H
#define GNOMON_BENCH_COUNT_MARK_H

/* The first argument of getppid, which has none. */
#define COUNT_MARK 0x676e6f6du

#endif
