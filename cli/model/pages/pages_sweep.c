/*
 * pages_sweep.c: see pages_sweep.h. Blocks are sorted by address, in place,
 * byte by byte (American flag sort: needs no second list). Then they are
 * visited in that order. Blocks that extend beyond the current page are *open*.
 * An allocator's blocks have at most one open; there are more only if blocks
 * overlap (a pool's block within one of the allocator's; a free that was
 * missed; a forged trace).
 *
 *  I1  Covers ascend and do not overlap.
 *  I2  In a cover each group occurs once, with at least one byte.
 */
#include "cli/model/pages/pages_sweep.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/pools.h"
#include "cli/model/model.h"
#include "unwind/base/assertion.h"

/* Limit of open blocks: the time for a page grows with their number, and a
 * forged trace may have millions. */
#define OPEN_MAX 64
/* Upper bound of addresses: sizes of a forged trace may reach the end of the
 * number range. */
#define ADDRESS_END (UINT64_C(1) << 62)
#define SORT_SMALL 32		/* sorted by insertion */

struct entry {
	uint64_t address;
	const struct block *block;
};

struct open_block {
	uint64_t end;
	const struct block *block;
	uint32_t group;
};

struct sweeping {
	const struct pages_sweep *sweep;
	const struct entry *list;
	size_t count, at;		/* next to be taken */
	struct open_block open[OPEN_MAX];
	size_t open_count;
	uint64_t cut;
	struct page_member *members;
	size_t member_count, member_capacity;
	uint32_t *at_member;	/* by group: index in `members`, if the group is
				 * there */
	uint64_t covered;	/* in the current page: occupied up to this
				 * address */
	struct page_cover cover;
};

/* ---- the sorted list ---- */

static void sort_small(struct entry *list, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct entry entry = list[i];
		size_t at = i;

		for (; at > 0 && entry.address < list[at - 1].address; at--)
			list[at] = list[at - 1];
		list[at] = entry;
	}
}

static unsigned byte_of(const struct entry *entry, unsigned shift)
{
	return entry->address >> shift & 0xff;
}

/* Moves each entry to the range of its byte: begin[byte] … begin[byte + 1]. */
static void part_by_byte(struct entry *list, size_t count, unsigned shift,
			 size_t begin[257])
{
	size_t next[256];

	memset(begin, 0, 257 * sizeof(*begin));
	for (size_t i = 0; i < count; i++)
		begin[byte_of(&list[i], shift) + 1]++;
	for (unsigned byte = 0; byte < 256; byte++)
		begin[byte + 1] += begin[byte];
	memcpy(next, begin, sizeof(next));
	for (unsigned byte = 0; byte < 256; byte++) {
		while (next[byte] < begin[byte + 1]) {
			struct entry *here = &list[next[byte]];
			unsigned other = byte_of(here, shift);
			struct entry entry = *here;

			*here = list[next[other]];
			list[next[other]++] = entry;
		}
	}
	DEBUG_ASSERT(begin[256] == count);
}

/* Sorts by the byte at `shift` and the bytes below it. */
static void sort_by(struct entry *list, size_t count, unsigned shift)
{
	size_t begin[257];

	if (count <= SORT_SMALL) {
		sort_small(list, count);
		return;
	}
	part_by_byte(list, count, shift, begin);
	for (unsigned byte = 0; byte < 256 && shift > 0; byte++)
		sort_by(list + begin[byte], begin[byte + 1] - begin[byte],
			shift - 8);
}

static uint32_t group_of(const struct pages_sweep *sweep,
			 const struct block *block)
{
	uint32_t group = sweep->group_of_cost == NULL ? 0 :
		sweep->group_of_cost[block->cost];

	DEBUG_ASSERT(group == PAGES_NO_GROUP || group < sweep->group_count);
	return group;
}

static struct entry *entries_of(const struct pages_sweep *sweep,
				const struct model *model, size_t *count)
{
	size_t room = 0, made = 0;
	uint64_t differ = 0;	/* bits that differ between addresses */
	const struct block *block;
	struct entry *list;
	uint64_t at = 0;

	while ((block = model_next_block(model, &at)) != NULL)
		room += group_of(sweep, block) != PAGES_NO_GROUP;
	list = grow_alloc(room * sizeof(*list));
	at = 0;
	while ((block = model_next_block(model, &at)) != NULL) {
		if (group_of(sweep, block) == PAGES_NO_GROUP)
			continue;
		list[made] = (struct entry){
			pools_address(block->address), block,
		};
		differ |= list[made++].address ^ list[0].address;
	}
	ASSERT(made == room);
	if (differ != 0)
		sort_by(list, made, (63 - (unsigned)__builtin_clzll(differ)) &
			~7u);
	*count = made;
	return list;
}

/* ---- a page ---- */

uint64_t pages_sweep_end(const struct block *block)
{
	uint64_t address = pools_address(block->address);
	uint64_t size = block->size > 0 ? block->size : 1;

	return size < ADDRESS_END - address ? address + size : ADDRESS_END;
}

static uint64_t page_of(const struct sweeping *s, uint64_t address)
{
	return address & -s->sweep->page_size;
}

static void add_member(struct sweeping *s, uint32_t group, uint64_t bytes)
{
	uint32_t at = s->at_member[group];

	if (at >= s->member_count || s->members[at].group != group) {
		GROW(s->members, s->member_count, s->member_capacity);
		at = s->at_member[group] = (uint32_t)s->member_count++;
		s->members[at] = (struct page_member){ .group = group };
	}
	s->members[at].bytes += bytes;
}

/* A block occupies [start, end) of the page. */
static void add_part(struct sweeping *s, uint32_t group, uint64_t start,
		     uint64_t end)
{
	DEBUG_ASSERT(start < end);
	add_member(s, group, end - start);
	s->cover.blocks++;
	if (start < s->covered)
		start = s->covered;
	if (start < end) {
		s->cover.live_bytes += end - start;
		s->covered = end;
	}
}

static void open_block(struct sweeping *s, const struct entry *entry,
		       uint64_t end)
{
	if (s->open_count == OPEN_MAX) {
		s->cut++;
		return;
	}
	s->open[s->open_count++] = (struct open_block){
		end, entry->block, group_of(s->sweep, entry->block),
	};
}

static void close_blocks(struct sweeping *s, uint64_t address)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->open_count; i++)
		if (s->open[i].end > address)
			s->open[kept++] = s->open[i];
	s->open_count = kept;
}

static void begin_cover(struct sweeping *s, uint64_t page)
{
	s->member_count = 0;
	s->covered = page;
	s->cover = (struct page_cover){
		.address = page, .pages = 1,
		.first = s->open_count > 0 ? s->open[0].block : NULL,
	};
}

static void report(struct sweeping *s, uint64_t pages)
{
	s->cover.pages = pages;
	s->cover.members = s->members;
	s->cover.member_count = s->member_count;
	DEBUG_ASSERT(s->member_count > 0 && s->cover.live_bytes > 0 &&
		     s->cover.live_bytes <= s->sweep->page_size);	/* I2 */
	s->sweep->cover(s->sweep->owner, &s->cover);
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Open blocks, and blocks that begin in the page. */
static void take_page(struct sweeping *s, uint64_t page)
{
	uint64_t page_end = page + s->sweep->page_size;

	begin_cover(s, page);
	for (size_t i = 0; i < s->open_count; i++)
		add_part(s, s->open[i].group, page,
			 min(s->open[i].end, page_end));
	close_blocks(s, page_end);
	for (; s->at < s->count && s->list[s->at].address < page_end;
	     s->at++) {
		const struct entry *entry = &s->list[s->at];
		uint64_t end = pages_sweep_end(entry->block);

		if (s->at + 16 < s->count)
			__builtin_prefetch(entry[16].block);
		add_part(s, group_of(s->sweep, entry->block), entry->address,
			 min(end, page_end));
		if (s->cover.first == NULL)
			s->cover.first = entry->block;
		if (s->sweep->block != NULL)
			s->sweep->block(s->sweep->owner, entry->block);
		if (end > page_end)
			open_block(s, entry, end);
	}
	report(s, 1);
}

/* Pages that only open blocks occupy, from `page` on. Returns the page after
 * them. */
static uint64_t take_open(struct sweeping *s, uint64_t page)
{
	uint64_t until = s->at < s->count ?
		page_of(s, s->list[s->at].address) : ADDRESS_END;

	for (size_t i = 0; i < s->open_count; i++)
		until = min(until, page_of(s, s->open[i].end));
	if (until <= page)
		return page;
	begin_cover(s, page);
	for (size_t i = 0; i < s->open_count; i++)
		add_part(s, s->open[i].group, page, page + s->sweep->page_size);
	report(s, (until - page) / s->sweep->page_size);
	close_blocks(s, until);
	return until;
}

uint64_t pages_sweep(const struct pages_sweep *sweep,
		     const struct model *model)
{
	struct sweeping s = { .sweep = sweep };
	struct entry *list = entries_of(sweep, model, &s.count);
	uint64_t page = 0;

	ASSERT((sweep->page_size & (sweep->page_size - 1)) == 0);
	s.list = list;
	s.at_member = grow_zeroed(sweep->group_count + 1,
				  sizeof(*s.at_member));
	while (s.at < s.count || s.open_count > 0) {
		if (s.open_count == 0)
			page = page_of(&s, s.list[s.at].address);
		take_page(&s, page);
		page += sweep->page_size;
		if (s.open_count > 0)
			page = take_open(&s, page);
	}
	free(s.at_member);
	free(s.members);
	free(list);
	return s.cut;
}
