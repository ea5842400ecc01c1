/* pools.c: see pools.h. Called by the reader's thread. */
#include "cli/model/core/pools.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

bool pools_name(struct pools *pools, struct intern *names,
		const struct trace_control *record)
{
	if (record->number == 0 || record->number >= POOLS_MAX)
		return false;
	if (record->number >= pools->count) {
		size_t count = (size_t)record->number + 1;

		pools->list = grow_resize(pools->list, count,
					  sizeof(*pools->list));
		for (size_t i = pools->count; i < count; i++)
			pools->list[i] = (struct pool_entry){ .name = "" };
		pools->list[0].name = POOLS_ALLOCATOR;
		pools->count = count;
	}
	pools->list[record->number].name =
		intern_bytes(names, record->name, record->name_size);
	return true;
}

void pools_forget(struct pools *pools)
{
	for (size_t i = 0; i < pools->count; i++)
		memset(&pools->list[i].figures, 0,
		       sizeof(pools->list[i].figures));
}

void pools_free(struct pools *pools)
{
	free(pools->list);
	memset(pools, 0, sizeof(*pools));
}

const char *pools_name_of(const struct pools *pools, uint32_t number)
{
	if (number == 0)
		return POOLS_ALLOCATOR;
	return number < pools->count ? pools->list[number].name : "";
}

void pools_alloc(struct pools *pools, uint64_t address, uint64_t stamp,
		 struct weight_amount amount)
{
	struct totals *figures = &pools->list[pools_number(address)].figures;

	DEBUG_ASSERT(pools_has(pools, address));
	block_totals_begin(figures, amount);
	block_totals_peak(figures, stamp);
}

void pools_end(struct pools *pools, uint64_t address,
	       struct weight_amount amount, bool freed)
{
	struct totals *figures = &pools->list[pools_number(address)].figures;

	DEBUG_ASSERT(pools_has(pools, address) &&
		     figures->live_blocks >= amount.blocks);
	block_totals_end(figures, amount);
	figures->frees += freed ? amount.blocks : 0;
}
