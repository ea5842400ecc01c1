/*
 * nearest.h: which of some words somebody meant who mistyped one.
 *
 *	struct nearest nearest = { .wanted = "reprot" };
 *	nearest_try(&nearest, "report", strlen("report")) for each word
 *	nearest.word is "report" then, or NULL: none is like it
 */
#ifndef GNOMON_NEAREST_H
#define GNOMON_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *wanted;
	const char *word;	/* the first of those that are nearest; borrowed */
	size_t size;		/* of the word */
	size_t distance;
};

void nearest_try(struct nearest *nearest, const char *word, size_t size);

/* How many letters must be inserted, removed, replaced or swapped with the next
 * one to make `b` of `a` (optimal string alignment). Of words longer than
 * NEAREST_MAX, SIZE_MAX. */
#define NEAREST_MAX 63
size_t nearest_distance(const char *a, size_t a_size, const char *b,
			size_t b_size);

#endif
