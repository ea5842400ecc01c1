/*
 * random_rows.h: rows as a small program would make them, a store of them, and
 * what a column of a row is, for tests to hold the store's answers against.
 */
#ifndef GNOMON_RANDOM_ROWS_H
#define GNOMON_RANDOM_ROWS_H

#include "cli/store/store_scan.h"
#include "cli/store/store_write.h"

struct random_rows {
	struct store_row *list;		/* ended ones first, in their order */
	size_t count, live;
	uint64_t end;			/* the last stamp */
};

/* Also of what the rows are. */
uint64_t random_next(uint64_t *seed);
/* Below `most`, which is not 0. */
uint64_t random_below(uint64_t *seed, uint64_t most);

/* Of so many allocations. To be released. */
struct random_rows random_rows_make(uint64_t seed, size_t allocs);
void random_rows_free(struct random_rows *rows);

/* An unnamed file, empty. */
int random_file(void);
/* Write all rows, with a few facts and a blob, into a new file. */
int random_rows_write(const struct random_rows *rows, unsigned packers);
/* Open such a file, which stays open: the store has a copy of `fd`. */
struct store *random_store(int fd, struct notes *notes);
/* Both. */
struct store *random_rows_store(const struct random_rows *rows);

/* What the store has to say of a row; `now`: where lifetimes end. */
uint64_t random_value(const struct random_rows *rows, size_t row,
		      enum store_column column, uint64_t now);
extern const struct store_key random_key;

#endif
