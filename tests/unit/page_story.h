/*
 * page_story.h: blocks at random on a few pages, and mappings around them at
 * snapshots, the last of them behind all events, with all that is to be known of
 * each page by brute force: byte by byte. A tick is 10 ns; the recording starts at 0.
 */
#ifndef TESTS_PAGE_STORY_H
#define TESTS_PAGE_STORY_H

#include <stdbool.h>
#include <string.h>

#include "cli/model/model.h"
#include "cli/trace/decode/memory_records.h"
#include "tests/unit/trace_write.h"

#define PAGE_STORY_PAGE 4096u
#define PAGE_STORY_BASE UINT64_C(0x100000)
#define PAGE_STORY_PAGES 96u
#define PAGE_STORY_BLOCKS 300u
#define PAGE_STORY_CONTEXTS 7u
#define PAGE_STORY_MAPPINGS 5u
#define PAGE_STORY_SNAPSHOTS 3u
#define PAGE_STORY_END (PAGE_STORY_BLOCKS * 20u)
#define PAGE_STORY_LIVE UINT64_MAX

struct page_story_block {
	uint64_t address, size;
	uint64_t alloc, end;	/* stamps; PAGE_STORY_LIVE */
	uint32_t context;
	uint16_t layout;
};

/* One after the other, with gaps between; the first begins before all pages,
 * the last ends behind them. */
struct page_story_mapping {
	uint64_t start, size, rss;	/* bytes */
	uint32_t flags;
	const char *path;
};

struct page_story {
	struct page_story_block blocks[PAGE_STORY_BLOCKS];
	struct page_story_mapping mappings[PAGE_STORY_SNAPSHOTS]
					  [PAGE_STORY_MAPPINGS];
	uint64_t stamps[PAGE_STORY_SNAPSHOTS];
	char path[32];
};

static inline uint64_t page_story_below(uint64_t count)
{
	return (uint64_t)rand() % count;
}

static inline void page_story_block(struct page_story *s, unsigned i)
{
	static const uint16_t layouts[] = {
		0, GT_LAYOUT_KNOWN, GT_LAYOUT_KNOWN | GT_LAYOUT_OTHER,
		GT_LAYOUT_KNOWN | GT_LAYOUT_MMAPPED,
	};
	static const uint64_t sizes[] = { 1, 70, 70, 70, 3000, 5 * 4096 };
	struct page_story_block *block = &s->blocks[i];
	uint64_t address;
	bool taken;

	do {
		address = PAGE_STORY_BASE +
			page_story_below((PAGE_STORY_PAGES - 8) * 256) * 16;
		taken = false;
		for (unsigned k = 0; k < i; k++)
			taken |= s->blocks[k].address == address;
	} while (taken);
	*block = (struct page_story_block){
		.address = address,
		.size = page_story_below(sizes[page_story_below(6)] + 1),
		.alloc = 10 + i * 10, .end = PAGE_STORY_LIVE,
		.context = (uint32_t)page_story_below(PAGE_STORY_CONTEXTS),
		.layout = layouts[page_story_below(4)],
	};
	if (page_story_below(4) == 0)
		block->end = PAGE_STORY_BLOCKS * 10 + 100 + i * 5;
}

/* Resident wholly, not at all, or in part. */
static inline void page_story_mappings(struct page_story_mapping *list)
{
	static const struct page_story_mapping kinds[] = {
		{ .path = "[heap]" }, { .path = "" }, { .path = "/lib/x.so" },
		{ .path = "", .flags = GT_MAPPING_OURS },
		{ .path = "[stack]" },
	};
	uint64_t page = PAGE_STORY_BASE / PAGE_STORY_PAGE - 2;

	for (unsigned i = 0; i < PAGE_STORY_MAPPINGS; i++) {
		uint64_t pages = 10 + page_story_below(12);

		list[i] = kinds[page_story_below(5)];
		list[i].start = page * PAGE_STORY_PAGE;
		list[i].size = pages * PAGE_STORY_PAGE;
		switch (page_story_below(3)) {
		case 0:
			list[i].rss = list[i].size;
			break;
		case 1:
			list[i].rss = page_story_below(pages) *
				PAGE_STORY_PAGE;
			break;
		default:
			list[i].rss = 0;
		}
		page += pages + page_story_below(3);
	}
}

static inline void page_story_put_mappings(struct trace_write *t,
					   const struct page_story_mapping *list,
					   uint64_t number)
{
	struct buffer payload = { 0 }, rows = { 0 };
	uint64_t page = 0;

	compose_varint(&payload, GT_SNAPSHOT_MAPPINGS);
	compose_varint(&payload, number);
	compose_varint(&payload, GT_MAPPING_VALUES);
	compose_varint(&payload, PAGE_STORY_MAPPINGS);
	for (unsigned i = 0; i < PAGE_STORY_MAPPINGS; i++) {
		compose_varint(&rows, list[i].start / PAGE_STORY_PAGE - page);
		compose_varint(&rows, list[i].size / PAGE_STORY_PAGE);
		compose_varint(&rows, list[i].flags);
		for (unsigned v = 0; v < GT_MAPPING_VALUES; v++)
			compose_varint(&rows, v == GT_MAPPING_RSS ?
				       list[i].rss / 1024 : 0);
		compose_varint(&rows, strlen(list[i].path) == 0 ? 0 :
			       strlen(list[i].path) + 2);
		buffer_string(&rows, list[i].path);
		page = (list[i].start + list[i].size) / PAGE_STORY_PAGE;
	}
	compose_column(&payload, &rows, 0);
	trace_write_chunk(t, (struct chunk){ .type = GT_SNAPSHOT }, &payload);
	buffer_free(&rows);
}

static inline void page_story_put_taken(struct trace_write *t, uint64_t number,
					uint64_t stamp)
{
	const uint64_t values[] = {
		GT_SNAPSHOT_TAKEN, number, GT_SNAPSHOT_ASKED,
		GT_SNAPSHOT_WHOLE, stamp, stamp, PAGE_STORY_MAPPINGS, 0,
		GT_ARENAS_FOREIGN,
	};
	struct buffer payload = { 0 };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		compose_varint(&payload, values[i]);
	trace_write_chunk(t, (struct chunk){ .type = GT_SNAPSHOT }, &payload);
}

static inline int page_story_by_stamp(const void *a, const void *b)
{
	const struct trace_event *x = a, *y = b;

	return x->stamp < y->stamp ? -1 : x->stamp > y->stamp;
}

static inline void page_story_put_events(struct trace_write *t,
					 const struct page_story *s)
{
	static struct trace_event events[2 * PAGE_STORY_BLOCKS];
	size_t count = 0;

	for (unsigned i = 0; i < PAGE_STORY_BLOCKS; i++) {
		const struct page_story_block *block = &s->blocks[i];

		events[count++] = (struct trace_event){
			.stamp = block->alloc, .address = block->address,
			.size = block->size, .layout = block->layout,
			.context = GT_STOP_COUNT + block->context,
			.kind = GT_ALLOC,
		};
		if (block->end != PAGE_STORY_LIVE)
			events[count++] = (struct trace_event){
				.stamp = block->end, .kind = GT_FREE,
				.address = block->address,
			};
	}
	qsort(events, count, sizeof(*events), page_story_by_stamp);
	trace_write_events(t, 0, 0, 0, events, count, 0);
}

static inline void page_story_write(struct page_story *s)
{
	struct buffer payload = { 0 };
	struct trace_write t;

	trace_write_begin(&t);
	trace_write_line(&t, GT_INFO, "start_monotonic_ns", "0");
	trace_write_line(&t, GT_INFO, "page_size", "4096");
	trace_write_sync(&t, 0);
	for (uint32_t i = 0; i < PAGE_STORY_CONTEXTS; i++) {
		compose_nodes(&payload, &(struct trace_node){
			GT_STOP_COUNT + i, 0, 0x1000 + i }, 1, 0);
		trace_write_chunk(&t, (struct chunk){ .type = GT_CONTEXT },
				  &payload);
	}
	compose_thread(&payload, &(struct trace_thread){
		.what = GT_THREAD_START, .tid = 100, .name = "t",
		.name_size = 1 });
	trace_write_chunk(&t, (struct chunk){ .type = GT_THREAD }, &payload);
	page_story_put_events(&t, s);
	for (unsigned i = 0; i < PAGE_STORY_SNAPSHOTS; i++) {
		page_story_put_mappings(&t, s->mappings[i], i + 1);
		page_story_put_taken(&t, i + 1, s->stamps[i]);
	}
	trace_write_sync(&t, PAGE_STORY_END);
	trace_write_line(&t, GT_END, "reason", "exit");
	strcpy(s->path, "/tmp/gnomon-unit-XXXXXX");
	trace_write_file(&t, s->path);
	buffer_free(&t.bytes);
}

/* To be released; its trace is a file. */
static inline struct page_story *page_story_new(unsigned seed)
{
	struct page_story *s = calloc(1, sizeof(*s));

	srand(seed);
	for (unsigned i = 0; i < PAGE_STORY_BLOCKS; i++)
		page_story_block(s, i);
	for (unsigned i = 0; i < PAGE_STORY_SNAPSHOTS; i++) {
		s->stamps[i] = PAGE_STORY_END / 3 * (i + 1) - 7;
		page_story_mappings(s->mappings[i]);
	}
	page_story_write(s);
	return s;
}

static inline void page_story_free(struct page_story *s)
{
	unlink(s->path);
	free(s);
}

/* ---- brute force ---- */

/* What lies on a page at a time: just before the stamp. */
struct page_story_page {
	uint64_t live;		/* bytes that any block has */
	uint64_t blocks;
	uint64_t of_context[PAGE_STORY_CONTEXTS];	/* bytes of blocks */
	uint64_t sum;					/* of these */
};

static inline bool page_story_is_live(const struct page_story_block *block,
				      uint64_t stamp)
{
	return block->alloc < stamp && block->end >= stamp;
}

static inline struct page_story_page
page_story_page(const struct page_story *s, uint64_t page, uint64_t stamp)
{
	struct page_story_page found = { 0 };
	bool had[PAGE_STORY_PAGE] = { false };

	for (unsigned i = 0; i < PAGE_STORY_BLOCKS; i++) {
		const struct page_story_block *block = &s->blocks[i];
		uint64_t size = block->size > 0 ? block->size : 1, bytes = 0;

		if (!page_story_is_live(block, stamp))
			continue;
		for (uint64_t at = block->address; at < block->address + size;
		     at++) {
			if (at / PAGE_STORY_PAGE != page / PAGE_STORY_PAGE)
				continue;
			had[at % PAGE_STORY_PAGE] = true;
			bytes++;
		}
		found.blocks += bytes > 0;
		found.of_context[block->context] += bytes;
		found.sum += bytes;
	}
	for (unsigned i = 0; i < PAGE_STORY_PAGE; i++)
		found.live += had[i];
	return found;
}

#endif
