/*
 * shortened.h: files that are mapped and cut short by somebody else. What was
 * there then reads as zeroes, which is for the reader to call damaged.
 */
#ifndef GNOMON_SHORTENED_H
#define GNOMON_SHORTENED_H

/* From now on, in all threads. For main(). */
void shortened_survive(void);

#endif
