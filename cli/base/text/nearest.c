/*
 * nearest.c: see nearest.h. Any thread.
 */
#include "cli/base/text/nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LETTERS_AN_ERROR 3	/* one mistake allowed per this many letters */
#define BEGINNING_MIN 3		/* letters that identify a word by its start */

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The usual dynamic-programming table; only three of its rows are kept. */
size_t nearest_distance(const char *a, size_t a_size, const char *b,
			size_t b_size)
{
	size_t rows[3][NEAREST_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2];

	if (a_size > NEAREST_MAX || b_size > NEAREST_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= b_size; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		size_t *oldest = before;

		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
				a[i - 2] == b[j - 1];

			row[j] = min(last[j] + 1, row[j - 1] + 1);
			row[j] = min(row[j], last[j - 1] +
				     (a[i - 1] != b[j - 1]));
			if (swapped)
				row[j] = min(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = oldest;
	}
	return last[b_size];
}

void nearest_try(struct nearest *nearest, const char *word, size_t size)
{
	size_t wanted = strlen(nearest->wanted);
	size_t distance = nearest_distance(nearest->wanted, wanted, word, size);
	size_t max = (wanted > size ? wanted : size) / LETTERS_AN_ERROR;

	/* the beginning of a word: probably an abbreviation */
	if (wanted >= BEGINNING_MIN && wanted < size &&
	    strncmp(nearest->wanted, word, wanted) == 0)
		distance = 1;
	if (distance > (max > 0 ? max : 1) || distance >= min(wanted, size))
		return;
	if (nearest->word != NULL && distance >= nearest->distance)
		return;
	nearest->word = word;
	nearest->size = size;
	nearest->distance = distance;
}
