/*
 * quantity.h: sizes, times and counts in human-readable form.
 *
 * Sizes: a number with k, M, G or T for powers of 1024 (64k, 1.5M, 2G).
 * Times: 250ms, 10s, 5m, 1h, and sums of them (1h2m).
 */
#ifndef GNOMON_QUANTITY_H
#define GNOMON_QUANTITY_H

#include <stdint.h>

#define QUANTITY_TEXT 32	/* enough for any of the texts below */

/* Return 0, -EINVAL if the text is no such quantity, -ERANGE if it is too
 * large. */
int quantity_parse_size(const char *text, uint64_t *size);
int quantity_parse_time(const char *text, uint64_t *ns);
int quantity_parse_count(const char *text, uint64_t *count);
/* "5%" or "5": the allowed growth in percent. */
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
/* In the format of the unit; sizes above INT64_MAX are printed as INT64_MAX. */
char *quantity_of(char *text, enum quantity_unit unit, uint64_t value);

/* "1 block", "2,000 blocks": for a noun whose plural adds an s. `text` has
 * QUANTITY_COUNTED bytes. */
#define QUANTITY_COUNTED 64
char *quantity_counted(char *text, uint64_t count, const char *noun);

/* The same with storage of their own, for arguments of printf; valid to the end
 * of the enclosing block. */
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
