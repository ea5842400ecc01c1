/*
 * shortened.h: survives mapped files that someone else truncates. The lost part
 * reads as zeroes, which readers must detect as damage.
 */
#ifndef GNOMON_SHORTENED_H
#define GNOMON_SHORTENED_H

/* Takes effect from now on, in all threads. For main(). */
void shortened_survive(void);

#endif
