/*
 * trace_generate.c: `bench-generate MODEL TRACE [options]`: a valid trace of any
 * length whose events are distributed like those of a real program
 * (trace_model.h), the same at every run with the same options.
 *
 * Time is counted in allocations. A block's end is known at its allocation: it
 * waits in a hierarchical timing wheel (Varghese and Lauck, SOSP 1987) of three
 * levels. An address belongs to a size class and returns to its class's list,
 * last in first out, as in malloc's caches.
 *
 *	contexts   a new one keeps the outer frames of the previous one and adds
 *		   some of its own; otherwise an allocation reuses the context of
 *		   an earlier one, as far back as MODEL_RECENT says. New ones
 *		   come as fast as in the measured program: after a share x of
 *		   all allocations, a share x^a of all contexts has occurred
 *	lifetimes  MODEL_LIFETIME; a share lives for ever, so many that --live
 *		   blocks exist at the end
 *	threads    take turns in bursts; each has its ring
 *
 * Not modelled: lifetimes that depend on the context, and blocks that are freed
 * in the order of a data structure.
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/trace_model.h"
#include "bench/trace_encode.h"
#include "cli/base/grow.h"

#define CLASS_STEP 16
#define CLASSES 512		/* of CLASS_STEP bytes; then by powers of two */
#define HEAP_START UINT64_C(0x555555600000)
#define CODE_START UINT64_C(0x400000)
#define HISTORY (1u << 22)	/* allocations whose contexts are known */
#define WHEEL_BITS 12
#define WHEEL_SLOTS (1u << WHEEL_BITS)
#define WHEEL_LEVELS 3
#define NO_BLOCK 0
#define RECENT_BLOCKS 1024	/* candidates for a realloc */
#define BURST 2000		/* events of a thread in a row, at most */
#define DEPTH_MAX 4096

struct block {
	uint64_t address;
	uint64_t end;		/* allocation after which it is freed */
	uint32_t next;		/* in its wheel's slot or its class's list */
	uint16_t class;
	uint8_t live;		/* 0: freed by a realloc, in a slot still */
	uint8_t forever;
};

struct generator {
	struct trace_model model;
	struct encoder *encoder;
	uint64_t random;
	uint64_t allocations;	/* so far, */
	uint64_t wanted;	/* and of them all */
	uint64_t forever;	/* of 2^32: share of blocks that are not freed */
	uint64_t same_size, realloc, in_place;	/* likewise */
	double growth;		/* a, above */
	uint64_t next_meeting;	/* allocation at which a context is new */
	uint32_t contexts_wanted;
	struct block *blocks;	/* [0] is none */
	size_t block_count, block_capacity;
	uint64_t top;		/* of the heap */
	uint32_t class_list[CLASSES + 64];
	uint32_t wheel[WHEEL_LEVELS][WHEEL_SLOTS];
	uint32_t recent[RECENT_BLOCKS];
	struct { uint32_t id; uint32_t size; } *contexts;
	size_t context_count, context_capacity;
	uint32_t history[HISTORY];
	uint32_t path[DEPTH_MAX];	/* ids of the newest context, outermost
					 * first */
	unsigned depth;
	unsigned threads;
	unsigned burst;		/* events left of it */
};

static struct generator g;

static uint64_t draw(enum model_spread which)
{
	return spread_draw(&g.model.spread[which], &g.random);
}

static bool chance(uint64_t share)
{
	return (spread_random(&g.random) >> 32) < share;
}

static void put(unsigned kind, uint64_t address, uint32_t context,
		uint64_t size)
{
	if (g.burst == 0 && g.threads > 1) {
		g.burst = 1 + spread_random(&g.random) % BURST;
		encoder_thread(g.encoder, spread_random(&g.random) %
			       g.threads);
	}
	g.burst--;
	encoder_event(g.encoder, kind, draw(MODEL_TICKS), address, context,
		      size);
}

/* ---- contexts ---- */

/* When the next context comes: the n-th of N after (n / N)^(1/a) of all. */
static void plan_meeting(void)
{
	double part = ((double)g.context_count + 1) / g.contexts_wanted;

	g.next_meeting = g.context_count >= g.contexts_wanted ? UINT64_MAX :
		(uint64_t)(pow(part, 1 / g.growth) * (double)g.wanted);
}

static uint64_t some_address(void)
{
	double skew = (double)(spread_random(&g.random) >> 11) / 0x1p53;

	return CODE_START + 5 + 64 *
		(uint64_t)(skew * skew * (double)g.model.number[MODEL_ADDRESSES]);
}

static uint32_t meet_context(void)
{
	unsigned depth = (unsigned)draw(MODEL_DEPTH);
	unsigned fresh = (unsigned)draw(MODEL_FRESH);
	unsigned shared;

	fresh = fresh < 1 ? 1 : fresh;
	depth = depth < DEPTH_MAX ? depth : DEPTH_MAX - 1;
	depth = depth < fresh ? fresh : depth;
	shared = depth - fresh < g.depth ? depth - fresh : g.depth;
	for (g.depth = shared; g.depth < depth && g.depth < shared + fresh;
	     g.depth++)
		g.path[g.depth] = encoder_node(g.encoder, g.depth > 0 ?
			g.path[g.depth - 1] : 0, some_address());
	GROW(g.contexts, g.context_count, g.context_capacity);
	g.contexts[g.context_count].id = g.path[g.depth - 1];
	g.contexts[g.context_count].size = (uint32_t)draw(MODEL_SIZE);
	g.context_count++;
	plan_meeting();
	return (uint32_t)g.context_count - 1;
}

static uint32_t pick_context(void)
{
	uint64_t back = draw(MODEL_RECENT);
	uint32_t context;

	if (g.allocations >= g.next_meeting || g.context_count == 0) {
		context = meet_context();
	} else {
		if (back >= g.allocations)
			back = g.allocations - 1;
		context = g.history[(g.allocations - back) & (HISTORY - 1)];
		if (!chance(g.same_size))
			g.contexts[context].size = (uint32_t)draw(MODEL_SIZE);
	}
	g.history[g.allocations & (HISTORY - 1)] = context;
	return context;
}

/* ---- blocks ---- */

static unsigned class_of(uint64_t size, uint64_t *bytes)
{
	unsigned class = (unsigned)((size + 8 + CLASS_STEP - 1) / CLASS_STEP);

	class = class < 2 ? 2 : class;
	*bytes = (uint64_t)class * CLASS_STEP;
	if (size + 8 < CLASSES * CLASS_STEP)
		return class;
	class = 64 - (unsigned)__builtin_clzll(size + 8);
	*bytes = UINT64_C(1) << class;
	return CLASSES + class;
}

/* A free place for a block of that size. */
static uint32_t place(uint64_t size)
{
	uint64_t bytes;
	unsigned class = class_of(size, &bytes);
	uint32_t index = g.class_list[class];

	if (index != NO_BLOCK) {
		g.class_list[class] = g.blocks[index].next;
		return index;
	}
	GROW(g.blocks, g.block_count, g.block_capacity);
	index = (uint32_t)g.block_count++;
	memset(&g.blocks[index], 0, sizeof(g.blocks[index]));
	g.blocks[index].address = g.top + 16;
	g.blocks[index].class = (uint16_t)class;
	g.top += bytes;
	return index;
}

static void give_back(uint32_t index)
{
	struct block *block = &g.blocks[index];

	block->next = g.class_list[block->class];
	g.class_list[block->class] = index;
}

/* Into the finest level whose turn of the wheel reaches its end. */
static void hang(uint32_t index)
{
	struct block *block = &g.blocks[index];
	uint64_t away = block->end ^ g.allocations;
	unsigned level = 0, slot;

	while (level + 1 < WHEEL_LEVELS && away >> (level + 1) * WHEEL_BITS)
		level++;
	slot = (unsigned)(block->end >> level * WHEEL_BITS) &
		(WHEEL_SLOTS - 1);
	block->next = g.wheel[level][slot];
	g.wheel[level][slot] = index;
}

/* All that hung in a slot comes to where it belongs by now. */
static void cascade(unsigned level)
{
	unsigned slot = (unsigned)(g.allocations >> level * WHEEL_BITS) &
		(WHEEL_SLOTS - 1);
	uint32_t index = g.wheel[level][slot];

	g.wheel[level][slot] = NO_BLOCK;
	while (index != NO_BLOCK) {
		uint32_t next = g.blocks[index].next;

		hang(index);
		index = next;
	}
}

/* Time goes on by one allocation: what ends with it is freed. */
static void advance(void)
{
	unsigned slot = (unsigned)g.allocations & (WHEEL_SLOTS - 1);
	uint32_t index = g.wheel[0][slot];

	g.wheel[0][slot] = NO_BLOCK;
	while (index != NO_BLOCK) {
		uint32_t next = g.blocks[index].next;

		if (g.blocks[index].live)
			put(GT_FREE, g.blocks[index].address, 0, 0);
		g.blocks[index].live = 0;
		give_back(index);
		index = next;
	}
	g.allocations++;
	for (unsigned level = WHEEL_LEVELS - 1; level > 0; level--)
		if ((g.allocations & ((UINT64_C(1) << level * WHEEL_BITS) - 1))
		    == 0)
			cascade(level);
}

static void begin(uint32_t index, bool forever)
{
	struct block *block = &g.blocks[index];

	block->live = 1;
	block->forever = forever;
	block->end = g.allocations + draw(MODEL_LIFETIME);
	if (!block->forever)
		hang(index);
	g.recent[g.allocations % RECENT_BLOCKS] = index;
}

/* Grow a block that was allocated lately. False: there is none. */
static bool reallocate(uint32_t context, uint64_t size)
{
	uint32_t old = g.recent[spread_random(&g.random) % RECENT_BLOCKS], new;
	uint64_t address;

	if (old == NO_BLOCK || !g.blocks[old].live)
		return false;
	address = g.blocks[old].address;
	g.burst += 2;		/* one thread does both */
	put(GT_REALLOC_BEGIN, address, 0, 0);
	if (chance(g.in_place)) {
		put(GT_REALLOC_DONE, address, context, size);
		return true;
	}
	new = place(size);
	put(GT_REALLOC_DONE, g.blocks[new].address, context, size);
	g.blocks[old].live = 0;
	begin(new, g.blocks[old].forever);
	if (g.blocks[old].forever)
		give_back(old);
	return true;
}

static void allocate(void)
{
	uint32_t context = pick_context(), id = g.contexts[context].id;
	uint64_t size = g.contexts[context].size;
	uint32_t index;

	if (chance(g.realloc) && reallocate(id, size))
		return;
	index = place(size);
	put(GT_ALLOC, g.blocks[index].address, id, size);
	begin(index, chance(g.forever));
}

/* ---- the whole ---- */

static uint64_t share(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 :
		(uint64_t)((double)part / (double)whole * 0x1p32);
}

static void prepare(uint64_t events, uint64_t contexts, uint64_t live)
{
	const uint64_t *number = g.model.number;
	double passing = spread_mean(&g.model.spread[MODEL_LIFETIME]);
	double half = (double)number[MODEL_CONTEXTS_HALF] /
		(double)number[MODEL_CONTEXTS];
	double forever = (double)number[MODEL_FOREVER] /
		(double)number[MODEL_ALLOCATIONS];

	/* e events of n allocations, of which n - live are freed; a realloc
	 * takes two for both. */
	g.wanted = live ? (events + live) / 2 :
		(uint64_t)((double)events / (2 - forever));
	if (live != 0)
		forever = (double)live > passing ?
			((double)live - passing) / (double)g.wanted : 0;
	/* What a realloc makes of a block lives as the block would have. */
	g.realloc = share(number[MODEL_REALLOCS], number[MODEL_ALLOCATIONS]);
	g.forever = (uint64_t)(forever / (1 - (double)g.realloc / 0x1p32) *
			       0x1p32);
	g.in_place = share(number[MODEL_IN_PLACE], number[MODEL_REALLOCS]);
	g.same_size = share(number[MODEL_SAME_SIZE],
			    number[MODEL_ALLOCATIONS]);
	g.contexts_wanted = (uint32_t)(contexts ? contexts :
				       number[MODEL_CONTEXTS]);
	/* half = (1/2)^a */
	g.growth = half < 1 && half > 0 ? -log2(half) : 0.01;
	if (g.growth < 0.05)
		g.growth = 0.05;
	g.top = HEAP_START;
	g.block_count = 0;
	place(0);		/* [0] */
	plan_meeting();
}

static int run(const char *path, uint64_t events)
{
	g.encoder = encoder_open(path, g.threads, CODE_START,
				 g.model.number[MODEL_ADDRESSES] * 64 + 64);
	if (g.encoder == NULL)
		return 1;
	while (encoder_events(g.encoder) < events) {
		allocate();
		advance();
	}
	return encoder_close(g.encoder) ? 0 : 1;
}

static int usage(void)
{
	fputs("usage: bench-generate MODEL TRACE [--events N] [--contexts N] "
	      "[--live N]\n\t[--threads N] [--seed N]\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "events", required_argument, NULL, 'e' },
		{ "contexts", required_argument, NULL, 'c' },
		{ "live", required_argument, NULL, 'l' },
		{ "threads", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t value[128] = { ['t'] = 1, ['s'] = 1 };
	int option, line;
	FILE *in;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == '?')
			return usage();
		value[option] = strtoull(optarg, NULL, 10);
	}
	if (argc - optind != 2 || value['t'] < 1 ||
	    value['t'] > ENCODER_THREADS_MAX)
		return usage();
	in = fopen(argv[optind], "r");
	line = in ? trace_model_parse(&g.model, in) : 0;
	if (in == NULL || line != 0) {
		fprintf(stderr, "%s: %s %d\n", argv[optind],
			in ? "makes no sense in line" : "cannot be read", line);
		return 1;
	}
	fclose(in);
	if (value['e'] == 0)
		value['e'] = g.model.number[MODEL_EVENTS];
	g.random = value['s'];
	g.threads = (unsigned)value['t'];
	prepare(value['e'], value['c'], value['l']);
	return run(argv[optind + 1], value['e']);
}
