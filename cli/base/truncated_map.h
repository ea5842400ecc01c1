/*
 * truncated_map.h: survives mapped files that someone else truncates. The lost
 * part reads as zeroes, which readers must detect as damage.
 */
#ifndef GNOMON_TRUNCATED_MAP_H
#define GNOMON_TRUNCATED_MAP_H

/* Takes effect from now on, in all threads. For main(). */
void truncated_map_survive(void);

#endif
