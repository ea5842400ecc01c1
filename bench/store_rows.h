/*
 * store_rows.h: generates index rows as a program would make them, without a
 * trace: for measuring the index alone. The same seed makes the same rows.
 */
#ifndef GNOMON_BENCH_STORE_ROWS_H
#define GNOMON_BENCH_STORE_ROWS_H

#include "cli/store/store_write.h"

#define STORE_ROWS_NODES 5000
#define STORE_ROWS_THREADS 8

/* What was made. */
struct store_rows_made {
	uint64_t rows, live;
	uint64_t end;		/* the last stamp */
};

/* So many rows, of which a tenth is live at the end. */
struct store_rows_made store_rows_make(struct store_writer *writer,
				       uint64_t rows, uint64_t seed);

#endif
