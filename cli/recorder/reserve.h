/*
 * reserve.h: the writer's own memory for tables that grow: addresses reserved
 * in one piece, of which pages become usable as they are needed. The writer
 * only.
 */
#ifndef GNOMON_RESERVE_H
#define GNOMON_RESERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reserve {
	char *at;
	uint64_t size;		/* addresses */
	uint64_t given;		/* of them, to tables */
};

/* Part of a reserve: an array that grows in place. */
struct reserve_table {
	char *at;
	uint64_t ready;		/* bytes that may be touched; zeroed at first */
	uint64_t size;		/* bytes it may have */
};

/*
 * So many bytes of addresses, or a half of it, or a quarter … down to
 * RESERVE_MIN. A forked child does not have them. 0 or -ENOMEM.
 */
int reserve_open(struct reserve *reserve, uint64_t size);

#define RESERVE_MIN (UINT64_C(16) << 20)

/* A table of `size` bytes at most. 0 or -ENOMEM. */
int reserve_table(struct reserve *reserve, struct reserve_table *table,
		  uint64_t size);

/* Makes `bytes` of it usable. False: no memory. */
bool reserve_more(struct reserve_table *table, uint64_t bytes);

static inline bool reserve_reach(struct reserve_table *table, uint64_t bytes)
{
	return bytes <= table->ready || reserve_more(table, bytes);
}

/* Bytes that may have been touched. */
uint64_t reserve_used(const struct reserve_table *table);

#endif
