/*
 * path.c: filling the path cache.
 *
 * Sets of PATH_WAYS, one array a thread. It starts small (most threads of most
 * programs do little) and grows fourfold after so many misses that it could
 * have been filled several times over, up to SETS_MAX. A filter of half a
 * word per hash remembers which stack was met there last: only the second
 * meeting is worth the copy.
 *
 * I1  The words of a path on the base stack lie in [lo, hi) or in the hook's
 *     own frame: at that sp it can be compared in any order for as long as
 *     the thread lives.
 * I4  The words of a path on any other stack stand in the order of the walk,
 *     which reached the bottom, and no block has words of two pages. Blocks
 *     are compared in order up to the first that differs. So where a page is
 *     read, all that the walk read before is as it was, the walk would go on
 *     to that page, and what it would read there are live frames' words: the
 *     page is there.
 * I2  The tag of an empty way is 0; a way is filled before its tag.
 * I3  A path with a tail was made when the shadow's frames up to the tail were
 *     those outward of its words. It holds while the shadow has, in the same
 *     place, a frame with the same slot and context: for the words say that
 *     the walk would arrive there. If that frame is a barrier, its stub is
 *     among the words, and what lies outward is as the shadow has it (I4 of
 *     shadow.c); else the shadow's words are compared. (That it is the very
 *     barrier that stood when the path was made is not asked: a barrier put
 *     there again, before the same context, makes the path good again.)
 *
 * Thread context: the thread that owns the state; not reentrant.
 */
#include "unwind/claim.h"
#include "unwind/memory.h"
#include "unwind/path.h"
#include "unwind/shadow.h"

#define SETS_FIRST 4u
#define SETS_MAX 1024u
#define GROW_AFTER 8u	/* misses for each way there is */
#define SEEN_PER_SET 64u	/* words of the filter */
#define SEEN_MAX 4096u

static uint32_t seen_size(uint64_t sets)
{
	return sets * SEEN_PER_SET < SEEN_MAX ?
		       (uint32_t)(sets * SEEN_PER_SET) :
		       SEEN_MAX;
}

static uint64_t path_bytes(uint64_t sets)
{
	return sets * PATH_WAYS * (sizeof(struct path) + sizeof(uint16_t)) +
	       seen_size(sets) * sizeof(uint16_t);
}

/* 0 or -ENOMEM; then nothing has changed. */
static int path_resize(struct capture_thread *t, uint64_t sets)
{
	char *area = unwind_alloc(path_bytes(sets));

	if (!area)
		return -12;	/* ENOMEM */
	CLAIM(sets >= SETS_FIRST && sets <= SETS_MAX && !(sets & (sets - 1)));
	CLAIM_FULL((uintptr_t)area % _Alignof(struct path) == 0);
	unwind_want_pages(area, path_bytes(sets));
	t->paths = (struct path *)area;
	t->tags = (uint16_t *)(t->paths + sets * PATH_WAYS);
	t->set_mask = sets - 1;
	t->seen = (uint16_t *)(t->tags + sets * PATH_WAYS);
	t->path_patience = GROW_AFTER * PATH_WAYS * (uint32_t)sets;
	t->seen_mask = seen_size(sets) - 1;
	t->report->path_bytes = path_bytes(sets);
	t->report->path_bytes_max = path_bytes(SETS_MAX);
	t->report->path_ways = sets * PATH_WAYS;
	t->report->path_ways_used = 0;
	CLAIM_FULL(path_is_valid(t));
	return 0;
}

int path_init(struct capture_thread *t)
{
	return path_resize(t, SETS_FIRST);
}

void path_clear(struct capture_thread *t)
{
	uint64_t i;

	CLAIM_FULL(t->report->path_ways == (t->set_mask + 1) * PATH_WAYS);
	for (i = 0; i < (t->set_mask + 1) * PATH_WAYS; i++)
		t->tags[i] = 0;
	t->report->path_ways_used = 0;
	CLAIM_FULL(path_is_valid(t));
}

static void path_grow(struct capture_thread *t)
{
	uint64_t sets = (t->set_mask + 1) * 4;

	CLAIM_FULL(t->path_misses > t->path_patience);
	t->path_misses = 0;
	if (sets <= SETS_MAX && !(unwind_scarce && unwind_scarce()))
		path_resize(t, sets);	/* without memory: as it is */
}

#ifdef GNOMON_CLAIMS
static bool one_is_valid(const struct capture_thread *t, const struct path *p)
{
	return p->context >= GT_STOP_COUNT && p->blocks > 0 &&
	       p->blocks <= PATH_WORDS / PATH_BLOCK && p->tail < t->capacity &&
	       !(p->sp % ARCH_WORD);
}

bool path_is_valid(const struct capture_thread *t)
{
	uint64_t i, used = 0, ways = (t->set_mask + 1) * PATH_WAYS;

	if (t->set_mask & (t->set_mask + 1) || t->set_mask >= SETS_MAX ||
	    t->seen_mask != seen_size(t->set_mask + 1) - 1 ||
	    t->report->path_ways != ways)
		return false;
	for (i = 0; i < ways; i++) {
		used += t->tags[i] != 0;
		if (t->tags[i] && !one_is_valid(t, &t->paths[i]))
			return false;	/* I2 */
	}
	return t->report->path_ways_used == used;
}
#endif

static bool add_word(struct path *p, uint32_t i, uintptr_t sp, uintptr_t at,
		     uintptr_t value)
{
	uintptr_t offset = (at - sp - ARCH_HOOK_FP) / ARCH_WORD;
	struct path_block *b = &p->block[i / PATH_BLOCK];

	CLAIM_FULL((at - sp) % ARCH_WORD == 0);
	if (i >= PATH_WORDS || at < sp + ARCH_HOOK_FP || offset > UINT16_MAX)
		return false;
	b->offset[i % PATH_BLOCK] = (uint16_t)offset;
	b->value[i % PATH_BLOCK] = value;
	return true;
}

/* Where the path's words end: at the innermost barrier (0: there is none), or,
 * where that leaves too many, at the outermost frame that does not. */
static uint32_t choose_tail(const struct capture_thread *t)
{
	uint32_t at = t->barrier_count ? t->barrier[t->barrier_count - 1] : 0;

	CLAIM(at < t->count);
	CLAIM_FULL(t->frames[at].word < t->word_count);
	if (t->word_count - t->frames[at].word < PATH_WORDS)
		return at;
	for (at = t->count - 1; at > 1; at--)
		if (t->word_count - t->frames[at - 1].word >= PATH_WORDS)
			return at;
	return 0;
}

/* Fills the block that has n's place, if it has others, by repeating its first
 * word. Returns where the next block begins. */
static uint32_t fill_block(struct path *p, uint32_t n)
{
	CLAIM_FULL(n <= PATH_WORDS);
	for (; n % PATH_BLOCK; n++) {
		struct path_block *b = &p->block[n / PATH_BLOCK];

		b->offset[n % PATH_BLOCK] = b->offset[0];
		b->value[n % PATH_BLOCK] = b->value[0];
	}
	return n;
}

/* Copies the words of the shadow, innermost first. */
static bool path_fill(struct path *p, const struct capture_thread *t,
		      uintptr_t sp)
{
	const struct shadow_frame *inner = &t->frames[t->count - 1];
	const struct shadow_frame *tail = &t->frames[choose_tail(t)];
	uint32_t i, n = 0;

	CLAIM_FULL(t->count > 1 && tail <= inner);
	p->tail = (uint32_t)(tail - t->frames);
	p->mark = tail->mark;
	p->slot = tail->slot;
	if (inner->flags & FRAME_FP &&
	    !add_word(p, n++, sp, sp + ARCH_HOOK_FP, inner->fp))
		return false;
	for (i = t->word_count; i-- > tail->word;)
		if (!add_word(p, n++, sp, t->words[i].at, t->words[i].value))
			return false;
	CLAIM_FULL(n > 0 && n <= PATH_WORDS);
	p->blocks = (uint16_t)(fill_block(p, n) / PATH_BLOCK);
	return true;
}

/* The next word, of which no two of different pages lie in one block. */
static bool add_in_order(struct path *p, uint32_t *n, uintptr_t sp,
			 uintptr_t at, uintptr_t value)
{
	uint32_t first = *n / PATH_BLOCK * PATH_BLOCK;

	CLAIM_FULL(*n <= PATH_WORDS);
	if (*n % PATH_BLOCK) {
		uintptr_t begins = sp + ARCH_HOOK_FP + ARCH_WORD *
			(uintptr_t)p->block[first / PATH_BLOCK].offset[0];

		if ((begins ^ at) / STACK_PAGE)
			*n = fill_block(p, *n);
	}
	return add_word(p, (*n)++, sp, at, value);
}

/* Copies the words of the scratch, innermost first (I4). */
static bool path_fill_foreign(struct path *p, const struct capture_thread *t,
			      uintptr_t sp, uint32_t frames)
{
	const struct frame *f = t->scratch;
	uint32_t i, n = 0;

	CLAIM_FULL(frames <= t->capacity);
	p->tail = 0;
	if (f->flags & FRAME_FP &&
	    !add_in_order(p, &n, sp, sp + ARCH_HOOK_FP, f->fp))
		return false;
	for (i = 0; i < frames; i++, f++) {
		if (f->flags & FRAME_FP_AT &&
		    !add_in_order(p, &n, sp, f->fp_at, f->fp))
			return false;
		if (f->flags & (FRAME_WORD | FRAME_STUB) ||
		    !add_in_order(p, &n, sp, f->slot, f->ra))
			return false;
	}
	CLAIM_FULL(n > 0 && n <= PATH_WORDS);
	p->blocks = (uint16_t)(fill_block(p, n) / PATH_BLOCK);
	return true;
}

static unsigned way_to_fill(const uint16_t *tags, uint32_t inserts)
{
	unsigned w;

	for (w = 0; w < PATH_WAYS; w++)
		if (tags[w] == 0)
			return w;
	return inserts % PATH_WAYS;
}

void path_learn_slow(struct capture_thread *t, uint64_t hash, uintptr_t sp,
		     uint32_t context, uint32_t frames)
{
	uint64_t way;
	struct path *p;

	if (t->path_misses > t->path_patience) {
		path_grow(t);
		return;
	}
	if (context < GT_STOP_COUNT)
		return;
	way = path_set(t, hash) * PATH_WAYS;
	CLAIM_FULL(way + PATH_WAYS <= t->report->path_ways);
	way += way_to_fill(&t->tags[way], t->path_misses);
	p = &t->paths[way];
	t->report->path_ways_used -= t->tags[way] != 0;
	t->tags[way] = 0;
	if (frames ? !path_fill_foreign(p, t, sp, frames) :
		     !path_fill(p, t, sp))
		return;
	p->context = context;
	p->sp = sp;
	CLAIM_FULL(t->report->path_ways_used < t->report->path_ways);
	CLAIM_FULL(one_is_valid(t, p));
	t->tags[way] = path_tag(hash);
	CLAIM_FULL(t->tags[way]);	/* I2 */
	t->report->path_ways_used++;
}

bool path_tail_stands(const struct capture_thread *t, const struct path *p)
{
	CLAIM_FULL(p->tail > 0 && p->tail < t->count);	/* I3 */
	return shadow_stands(t, p->tail);
}
