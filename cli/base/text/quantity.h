/*
 * quantity.h: sizes and times as people write them.
 *
 * Sizes: a number with k, M, G or T for powers of 1024 (64k, 1.5M, 2G).
 * Times: 250ms, 10s, 5m, 1h, and sums of them (1h2m).
 */
#ifndef GNOMON_QUANTITY_H
#define GNOMON_QUANTITY_H

#include <stdint.h>

#define QUANTITY_TEXT 32	/* enough for any of the texts below */

/* 0, or -EINVAL if the text is no such quantity, -ERANGE if too large. */
int quantity_parse_size(const char *text, uint64_t *size);
int quantity_parse_time(const char *text, uint64_t *ns);
int quantity_parse_count(const char *text, uint64_t *count);
/* "5%" or "5": percent that something may have grown by. */
int quantity_parse_growth(const char *text, double *percent);

enum quantity_unit {
	QUANTITY_BYTES,
	QUANTITY_COUNT,
	QUANTITY_NS
};

/* Each returns `text`, which has QUANTITY_TEXT bytes. */
char *quantity_size(char *text, int64_t bytes);		/* 1.5M, 640 B */
char *quantity_time(char *text, uint64_t ns);		/* 1m02s, 3.21s */
char *quantity_count(char *text, uint64_t count);	/* 1,234,567 */
char *quantity_percent(char *text, uint64_t part, uint64_t whole);
/* As the unit has it; sizes of more than INT64_MAX are said to be that. */
char *quantity_of(char *text, enum quantity_unit unit, uint64_t value);

/* "1 block", "2,000 blocks": of a noun whose plural ends with s. `text` has
 * QUANTITY_COUNTED bytes. */
#define QUANTITY_COUNTED 64
char *quantity_counted(char *text, uint64_t count, const char *noun);

/* The same in a text of their own, as arguments of a printf: it lasts as long
 * as the block of code in which it stands. */
#define SIZE_TEXT(bytes)						\
	quantity_size((char[QUANTITY_TEXT]){ 0 }, (int64_t)(bytes))
#define TIME_TEXT(ns) quantity_time((char[QUANTITY_TEXT]){ 0 }, (ns))
#define COUNT_TEXT(count) quantity_count((char[QUANTITY_TEXT]){ 0 }, (count))
#define COUNTED(count, noun)						\
	quantity_counted((char[QUANTITY_COUNTED]){ 0 }, (count), (noun))
#define PERCENT_TEXT(part, whole)					\
	quantity_percent((char[QUANTITY_TEXT]){ 0 }, (part), (whole))
#define UNIT_TEXT(unit, value)						\
	quantity_of((char[QUANTITY_TEXT]){ 0 }, (unit), (value))

#endif
