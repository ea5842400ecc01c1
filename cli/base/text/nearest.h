/*
 * nearest.h: finds the word that a mistyped one probably means.
 *
 *	struct nearest nearest = { .wanted = "reprot" };
 *	nearest_try(&nearest, "report", strlen("report")) for each word
 *	nearest.word is "report" then, or NULL: no word is similar
 */
#ifndef GNOMON_NEAREST_H
#define GNOMON_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *wanted;
	const char *word;	/* the first of the nearest words; borrowed */
	size_t size;		/* of the word */
	size_t distance;
};

void nearest_try(struct nearest *nearest, const char *word, size_t size);

/* Edit distance: letters to insert, delete, replace or swap with the next one
 * to turn `a` into `b` (optimal string alignment). SIZE_MAX for words longer
 * than NEAREST_MAX. */
#define NEAREST_MAX 63
size_t nearest_distance(const char *a, size_t a_size, const char *b,
			size_t b_size);

#endif
