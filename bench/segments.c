/*
 * segments.c: stacks as chains of shared pieces.
 *
 *	hook ─▶ innermost piece ─▶ segment ─▶ segment ─▶ … ─▶ outermost frame
 *	        (ra, sp) of hook   └ keyed by the (ra, sp) of its first frame
 *
 * A segment holds the words that a walk reads from its first frame up to the
 * first frame of the next one, including that frame's; its context, and the
 * next segment. A capture compares the chain from the hook outward. If the
 * chain breaks, the walk continues by rules and looks at each boundary for a
 * chain that holds from there. The hash of (ra, sp) determines boundaries, so
 * that stacks that differ further in have the same ones.
 *
 * The joining walk follows rules "CFA = sp + offset" only; with any other, or
 * where no chain holds, walk_fast walks to the end and all pieces are made
 * anew.
 *
 * I1  If the words of a segment equal memory, and fp was `fp` if that is not
 *     0, a walk from its first frame comes to (outer's address, next_sp) with
 *     next_fp.
 * I2  A segment's context is that of its first frame if the chain outward
 *     holds, each link to a segment with the expected sp, fp and context.
 *
 * One thread, on its base stack. Grows as path.c does.
 */
#include "bench/segments.h"

#include "unwind/base/context.h"
#include "unwind/image/image.h"
#include "unwind/rule_cache.h"
#include "unwind/shadow.h"

#define SEGMENT_WORDS 16u
#define SEGMENT_BLOCK 4u
#define SEGMENT_WAYS 4u
#ifndef SEGMENT_MASK
#define SEGMENT_MASK 7u		/* of the hash: 0 at a boundary */
#endif
#define SEGMENT_NEW_MAX 64u	/* frames of a joining walk */
#define SEGMENT_SETS_FIRST 16u
#define SEGMENT_SETS_MAX 4096u	/* 4 MiB, the path cache's bound */
#define SEGMENT_GROW_AFTER 8u
#define SEGMENT_SEEN 4096u

/* As the blocks of struct path, but the first word is at sp + offset. */
struct segment {
	uintptr_t ra, sp;	/* of the first frame; sp 0: empty */
	uintptr_t fp;		/* if the walk used it; else 0 */
	uintptr_t next_sp, next_fp;
	uint64_t hash;		/* of the stack from here */
	uint32_t context, outer;	/* outer: the next one's */
	uint32_t next;
	uint32_t blocks;
	uint32_t age;		/* which capture made or met it last */
	uint16_t offset[SEGMENT_WORDS];
	uintptr_t value[SEGMENT_WORDS];
} __attribute__((aligned(64)));

struct segments {
	struct segment *all;
	uint16_t *tags;
	uint64_t set_mask;
	uint32_t generation;
	uint32_t made, timeout;	/* since the sets last grew; then they grow */
	uint32_t captures;		/* that were no hits */
	struct capture_thread *thread;
	struct segment_counts counts;
	uint32_t seen[SEGMENT_SEEN];	/* as the path cache's filter */
};

/* A piece being made, and the way outward of it. */
struct piece {
	uintptr_t at[SEGMENT_WORDS], value[SEGMENT_WORDS];
	uint32_t words;
	uint32_t outer, next;
	uintptr_t next_sp, next_fp;
	bool whole;		/* no word was left out, here or outward */
};

static inline uint64_t segment_hash(uintptr_t ra, uintptr_t sp)
{
	return (ra ^ sp << 20) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline bool segment_is_boundary(uint64_t hash)
{
	return (hash >> 24 & SEGMENT_MASK) == 0;
}

static inline uint16_t segment_tag(uint64_t hash)
{
	return (uint16_t)(hash >> 48 | 1);
}

static inline bool segment_words_hold(const struct segment *g)
{
	const char *stack = (const char *)g->sp;
	uint32_t i, n = g->blocks * SEGMENT_BLOCK;
	uintptr_t differ;

	for (i = 0; i < n; i += SEGMENT_BLOCK) {
		const uintptr_t *words = (const uintptr_t *)stack;

		differ = words[g->offset[i]] ^ g->value[i];
		differ |= words[g->offset[i + 1]] ^ g->value[i + 1];
		differ |= words[g->offset[i + 2]] ^ g->value[i + 2];
		differ |= words[g->offset[i + 3]] ^ g->value[i + 3];
		if (differ)
			return false;
	}
	return true;
}

/* I2. NULL; or the segment at which the chain breaks. */
static inline const struct segment *
segment_chain_breaks(const struct segments *s, const struct segment *g)
{
	for (;;) {
		const struct segment *next = &s->all[g->next];

		if (!segment_words_hold(g))
			return g;
		if (g->outer < GT_STOP_COUNT)
			return NULL;
		if (next->sp != g->next_sp || next->context != g->outer ||
		    next->fp != g->next_fp)
			return g;
		g = next;
	}
}

static uint64_t segments_size(uint64_t sets)
{
	return sets * SEGMENT_WAYS *
	       (sizeof(struct segment) + sizeof(uint16_t));
}

static bool segments_resize(struct segments *s, uint64_t sets)
{
	struct segment *all = unwind_alloc(segments_size(sets));

	if (!all)
		return false;
	unwind_want_pages(all, segments_size(sets));
	s->all = all;
	s->tags = (uint16_t *)(all + sets * SEGMENT_WAYS);
	s->set_mask = sets - 1;
	s->made = 0;
	s->timeout = SEGMENT_GROW_AFTER * SEGMENT_WAYS * (uint32_t)sets;
	return true;
}

static void segments_clear(struct segments *s)
{
	uint64_t i;

	for (i = 0; i < (s->set_mask + 1) * SEGMENT_WAYS; i++) {
		s->tags[i] = 0;
		s->all[i].sp = 0;
	}
}

/* Where a segment of this key and context is, or may be put: not in the place
 * of another one of the same stack, as long as there is a choice. */
static uint64_t segment_place(struct segments *s, uint64_t hash, uintptr_t sp,
			      uint32_t context)
{
	uint64_t set = (hash >> 32 & s->set_mask) * SEGMENT_WAYS;
	uint64_t w, place = set + s->captures % SEGMENT_WAYS;

	for (w = set; w < set + SEGMENT_WAYS; w++) {
		if (s->all[w].sp == sp && s->all[w].context == context)
			return w;
		if (!s->tags[w] || s->all[place].age == s->captures)
			place = w;
	}
	return place;
}

/* The pending words as the segment of frame f; the next piece inward begins.
 * Its context is known. */
static void segment_make(struct segments *s, struct piece *p,
			 const struct frame *f, uint32_t context)
{
	uintptr_t sp = f->slot - (uintptr_t)ARCH_RA_OFFSET;
	uint64_t hash = segment_hash(f->ra, sp);
	uint64_t place = segment_place(s, hash, sp, context);
	struct segment *g = &s->all[place];
	uint32_t i, from;

	s->made += g->sp != sp || g->context != context;
	s->tags[place] = segment_tag(hash);
	*g = (struct segment){ .ra = f->ra, .sp = sp, .hash = f->hash,
			       .context = context, .outer = p->outer,
			       .next = p->next, .next_sp = p->next_sp,
			       .next_fp = p->next_fp,
			       .age = s->captures };
	g->fp = f->flags & FRAME_FP ? f->fp : 0;
	g->blocks = (p->words + SEGMENT_BLOCK - 1) / SEGMENT_BLOCK;
	for (i = 0; i < g->blocks * SEGMENT_BLOCK; i++) {
		/* innermost first; the last block is filled up */
		from = i < p->words ? p->words - 1 - i : 0;
		g->offset[i] = (uint16_t)((p->at[from] - sp) / ARCH_WORD);
		g->value[i] = p->value[from];
		if (p->at[from] - sp > UINT16_MAX * (uintptr_t)ARCH_WORD)
			p->whole = false;
	}
	/* fp 0 would be taken for none (I1) */
	if (!p->whole || context < GT_STOP_COUNT ||
	    (f->flags & FRAME_FP && !f->fp)) {
		p->whole = false;
		s->tags[place] = 0;
		g->sp = 0;
	}
	p->words = 0;
	p->next = (uint32_t)place;
	p->next_sp = sp;
	p->next_fp = g->fp;
	p->outer = context;
}

static void piece_add(struct piece *p, uintptr_t at, uintptr_t value)
{
	if (p->words == SEGMENT_WORDS) {
		p->whole = false;
		return;
	}
	p->at[p->words] = at;
	p->value[p->words++] = value;
}

static void piece_add_frame(struct piece *p, const struct frame *f)
{
	piece_add(p, f->slot, f->ra);
	if (f->flags & FRAME_FP_AT)
		piece_add(p, f->fp_at, f->fp);
}

/* Whether this whole stack was met before, as path_learn has it. */
static bool segments_seen(struct segments *s, const struct frame *f,
			  uint32_t context)
{
	uint64_t h = segment_hash(f->ra, f->slot) ^
		     context * UINT64_C(0xc2b2ae3d27d4eb4f);
	uint32_t *seen = &s->seen[h >> 40 & (SEGMENT_SEEN - 1)];

	if (*seen == context)
		return true;
	*seen = context;
	return false;
}

/*
 * Contexts of the frames inward of the piece's begin, scratch[0] … f[-1],
 * whose hashes are there; makes the segments among them. Answers the innermost
 * context. A piece is full where a frame might not find room for three words.
 */
static uint32_t segments_learn(struct segments *s, struct piece *p,
			       const struct frame *f, uint32_t parent)
{
	const struct frame *first = s->thread->scratch;

	s->captures++;
	while (f-- > first) {
		uintptr_t sp = f->slot - (uintptr_t)ARCH_RA_OFFSET;

		if (f->flags & FRAME_WORD) {
			piece_add(p, f->slot, f->ra);
			continue;
		}
		parent = context_child(parent, f->ra, f->hash, true);
		if (f == first)
			break;
		if (p->words > SEGMENT_WORDS - 3 ||
		    segment_is_boundary(segment_hash(f->ra, sp)))
			segment_make(s, p, f, parent);
		piece_add_frame(p, f);
	}
	if (segments_seen(s, first, parent))
		segment_make(s, p, first, parent);
	return parent;
}

static void segments_missed(struct segments *s)
{
	uint64_t sets = (s->set_mask + 1) * 4;

	if (s->made <= s->timeout || sets > SEGMENT_SETS_MAX)
		return;
	s->made = 0;
	segments_resize(s, sets);	/* without memory: as it is */
}

/*
 * The segment at a boundary of the walk whose chain holds; NULL: none, and
 * asking again is no use before the walk has passed *broken. The walk's frames
 * are scratch[0] … *f, the last one the boundary's.
 */
static const struct segment *segments_at(struct segments *s, uint64_t hash,
					 struct frame *f, uintptr_t *broken)
{
	const struct segment *at;
	uint64_t set = (hash >> 32 & s->set_mask) * SEGMENT_WAYS;
	uintptr_t sp = f->slot - (uintptr_t)ARCH_RA_OFFSET;
	uint64_t w;

	for (w = set; w < set + SEGMENT_WAYS; w++) {
		const struct segment *g = &s->all[w];

		if (s->tags[w] != segment_tag(hash) || g->sp != sp ||
		    g->ra != f->ra || g->fp)
			continue;
		/* What the tree will be asked is on its way meanwhile. */
		shadow_hash(s->thread->scratch, f, g->hash);
		at = segment_chain_breaks(s, g);
		if (!at)
			return g;
		if (at->sp > *broken)
			*broken = at->sp;
	}
	return NULL;
}

/* By plain rules to a segment that holds; 0 if that cannot be. */
static uint32_t segments_join(struct segments *s, uintptr_t ra, uintptr_t sp)
{
	struct capture_thread *t = s->thread;
	struct frame *f = t->scratch, *end = f + SEGMENT_NEW_MAX - 1;
	const struct segment *g = NULL;
	uintptr_t broken = 0;
	struct piece p;

	f->slot = sp + ARCH_RA_OFFSET;
	f->ra = ra;
	f->flags = 0;
	while (!g) {
		uint32_t rule = rule_of(rule_cache, ra);
		uint64_t hash;

		sp += rule_size(rule) * ARCH_RULE_UNIT;
		if (!(rule & WORD_PLAIN) || sp > t->hi || f == end)
			return 0;
		ra = *(const uintptr_t *)(sp + ARCH_RA_OFFSET);
		f++;
		f->slot = sp + ARCH_RA_OFFSET;
		f->ra = ra;
		f->flags = 0;
		hash = segment_hash(ra, sp);
		if (sp > broken && segment_is_boundary(hash))
			g = segments_at(s, hash, f, &broken);
	}
	s->counts.join++;
	s->counts.frames += (uint64_t)(f - t->scratch);
	p.words = 0;
	p.whole = true;
	p.outer = g->context;
	p.next = (uint32_t)(g - s->all);
	p.next_sp = g->sp;
	p.next_fp = 0;
	piece_add_frame(&p, f);
	return segments_learn(s, &p, f, g->context);
}

/* By a walk to the end. */
static uint32_t segments_walk(struct segments *s, uintptr_t ra, uintptr_t sp,
			      uintptr_t fp)
{
	struct capture_thread *t = s->thread;
	struct walk w = { .ra = ra, .sp = sp, .fp = fp,
			  .base = true, .alone = true };
	struct piece p = { .whole = true };
	enum walk_end end = walk_fast(t, &w);

	if (end == WALK_NEEDS_FULL || w.forget) {
		s->counts.other++;
		return capture_stack(t, ra, sp, fp);
	}
	s->counts.full++;
	s->counts.frames += w.count;
	p.outer = w.stop;
	shadow_hash(t->scratch, t->scratch + w.count,
		    context_hash_root(w.stop));
	return segments_learn(s, &p, t->scratch + w.count, w.stop);
}

static __attribute__((noinline)) uint32_t
segments_miss(struct segments *s, uintptr_t ra, uintptr_t sp, uintptr_t fp)
{
	uint32_t generation = atomic_load_explicit(&image_generation,
						   memory_order_acquire);
	uint32_t context;

	if (s->generation != generation || !stack_is_base(s->thread, sp)) {
		if (s->generation != generation)
			segments_clear(s);
		s->generation = generation;
		s->counts.other++;
		return capture_stack(s->thread, ra, sp, fp);
	}
	segments_missed(s);
	context = segments_join(s, ra, sp);
	return context ? context : segments_walk(s, ra, sp, fp);
}

uint32_t segments_capture(struct segments *s, uintptr_t ra, uintptr_t sp,
			  uintptr_t fp)
{
	uint64_t hash = segment_hash(ra, sp);
	uint64_t set = (hash >> 32 & s->set_mask) * SEGMENT_WAYS;
	const struct segment *g = &s->all[set];
	const uint16_t *tags = &s->tags[set];
	unsigned w;

	if (s->generation != atomic_load_explicit(&image_generation,
						  memory_order_relaxed))
		return segments_miss(s, ra, sp, fp);
#pragma GCC unroll 4
	for (w = 0; w < SEGMENT_WAYS; w++, g++)
		if (tags[w] == segment_tag(hash) && g->sp == sp &&
		    g->ra == ra && (!g->fp || g->fp == fp) &&
		    !segment_chain_breaks(s, g))
			return g->context;
	return segments_miss(s, ra, sp, fp);
}

struct segments *segments_new(struct capture_thread *t)
{
	struct segments *s = unwind_alloc(sizeof(*s));

	if (!s || !segments_resize(s, SEGMENT_SETS_FIRST))
		return NULL;
	s->thread = t;
	s->generation = ~atomic_load_explicit(&image_generation,
					      memory_order_relaxed);
	return s;
}

const struct segment_counts *segments_counts(const struct segments *s)
{
	return &s->counts;
}

uint64_t segments_bytes(const struct segments *s)
{
	return sizeof(*s) + segments_size(s->set_mask + 1);
}
