/*
 * zeroed.c: see zeroed.h. Blocks follow each other in a few large mappings. The
 * kernel populates their pages on first access, so the recorder of a process
 * that hardly allocates uses few.
 */
#include "cli/recorder/base/zeroed.h"

#include <stdint.h>
#include <sys/mman.h>

#include "preload/base/base.h"

#define ZEROED_PIECE (4u << 20)

/* The free end of the last piece. The recorder only. */
static char *zeroed_at;
static size_t zeroed_left;

static void *zeroed_map(size_t size_bytes)
{
	void *at = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

void *zeroed_alloc(size_t size_bytes)
{
	size_t size = base_round_up(base_max(size_bytes, 1), BASE_LINE);
	void *piece;

	if (size < size_bytes)
		return NULL;
	if (size > zeroed_left) {
		piece = size <= ZEROED_PIECE / 2 ? zeroed_map(ZEROED_PIECE) :
						   NULL;
		/* a large block, or no address space for a new piece */
		if (!piece)
			return zeroed_map(size);
		zeroed_at = piece;
		zeroed_left = ZEROED_PIECE;
	}
	zeroed_left -= size;
	zeroed_at += size;
	return zeroed_at - size;
}
