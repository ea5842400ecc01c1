/* scratch.c: see scratch.h. Chunks are mappings; each begins with its header. */
#include "cli/recorder/dump/scratch.h"

#include <sys/mman.h>

#include "preload/base/base.h"
#include "unwind/base/assertion.h"

#define SCRATCH_CHUNK (UINT64_C(1) << 20)

struct scratch_chunk {
	struct scratch_chunk *next;
	uint64_t size, used;
	uint64_t unused;	/* keeps what follows aligned */
};

static struct scratch_chunk *scratch_map(struct scratch *scratch,
					 uint64_t need)
{
	uint64_t size = base_round_up(need + sizeof(struct scratch_chunk),
				      SCRATCH_CHUNK);
	struct scratch_chunk *chunk;

	if (size < need || size > scratch->limit - scratch->bytes)
		return NULL;
	chunk = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (chunk == MAP_FAILED)
		return NULL;
	chunk->next = scratch->chunks;
	chunk->size = size;
	chunk->used = sizeof(*chunk);
	scratch->chunks = chunk;
	scratch->bytes += size;
	return chunk;
}

void *scratch_alloc(struct scratch *scratch, size_t size)
{
	struct scratch_chunk *chunk = scratch->chunks;
	uint64_t need = base_round_up(size, 16);
	void *made;

	if (need < size)
		return NULL;
	if (!chunk || need > chunk->size - chunk->used)
		chunk = scratch_map(scratch, need);
	if (!chunk)
		return NULL;
	DEBUG_ASSERT(need <= chunk->size - chunk->used);
	made = (char *)chunk + chunk->used;
	chunk->used += need;
	DEBUG_ASSERT(scratch_is_valid(scratch));
	return made;
}

void scratch_end(struct scratch *scratch)
{
	struct scratch_chunk *chunk, *next;

	for (chunk = scratch->chunks; chunk; chunk = next) {
		next = chunk->next;
		/* each chunk is unmapped as it was mapped */
		munmap(chunk, chunk->size);
	}
	scratch->chunks = NULL;
	scratch->bytes = 0;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool scratch_is_valid(const struct scratch *scratch)
{
	const struct scratch_chunk *chunk;
	uint64_t bytes = 0;

	for (chunk = scratch->chunks; chunk; chunk = chunk->next) {
		if (chunk->used < sizeof(*chunk) || chunk->used > chunk->size ||
		    chunk->size % SCRATCH_CHUNK)
			return false;
		bytes += chunk->size;
	}
	return bytes == scratch->bytes && bytes <= scratch->limit;
}
#endif
