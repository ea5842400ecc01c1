/*
 * path.c: filling the path cache.
 *
 * Sets of PATH_WAYS, one array a thread. It starts small and grows fourfold
 * when it was filled several times over, up to SETS_MAX. A filter of one word
 * per hash remembers which stack was met there last: only the second meeting
 * is worth the copy.
 *
 * I1  A path is only made of a walk on the base stack, all of whose words lie
 *     in [lo, hi): it can be compared in any order for as long as the thread
 *     lives.
 * I2  Empty ways have ra 0.
 *
 * Thread context: the thread that owns the state; not reentrant.
 */
#include "unwind/path.h"

#define SETS_FIRST 32u
#define SETS_MAX 2048u
#define SEEN_BITS 12

int path_init(struct capture_thread *t)
{
	t->sets = unwind_alloc(SETS_FIRST * sizeof(struct path_set));
	t->seen = unwind_alloc(sizeof(*t->seen) << SEEN_BITS);
	t->set_mask = SETS_FIRST - 1;
	return t->sets && t->seen ? 0 : -12;	/* ENOMEM */
}

void path_clear(struct capture_thread *t)
{
	uint64_t i;

	for (i = 0; i <= t->set_mask; i++) {
		t->sets[i].way[0].ra = 0;
		t->sets[i].way[1].ra = 0;
	}
}

static void path_grow(struct capture_thread *t)
{
	uint64_t sets = (t->set_mask + 1) * 4;
	struct path_set *grown;

	t->path_inserts = 0;
	if (sets > SETS_MAX)
		return;
	grown = unwind_alloc(sets * sizeof(*grown));
	if (!grown)
		return;
	t->sets = grown;
	t->set_mask = sets - 1;
}

static bool seen_before(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
			uint32_t context)
{
	uint64_t h = (ra ^ sp << 16 ^ (uint64_t)context << 40) *
		     UINT64_C(0xc2b2ae3d27d4eb4f);
	uint32_t *s = &t->seen[h >> (64 - SEEN_BITS)];

	if (*s == context)
		return true;
	*s = context;
	return false;
}

static bool add_word(struct path *p, uintptr_t sp, uintptr_t at,
		     uintptr_t value)
{
	uintptr_t offset = (at - sp) / ARCH_WORD;

	if (p->words == PATH_WORDS || at < sp || offset > UINT16_MAX)
		return false;
	p->offset[p->words] = (uint16_t)offset;
	p->value[p->words++] = value;
	return true;
}

/* 4, 8, 16, 24, 32, 48, 64: a mispredicted end costs as much as ten words. */
static uint32_t padded(uint32_t words)
{
	uint32_t step = words <= 8 ? 4 : words <= 16 ? 8 : 16;

	return (words + step - 1) / step * step;
}

/* Copies the words of the shadow, innermost first, but for that of the hook's
 * own return address: it is part of the key. */
static bool path_fill(struct path *p, const struct capture_thread *t,
		      uintptr_t sp)
{
	uint32_t i, own = t->frames[t->count - 1].word;

	p->words = 0;
	for (i = t->word_count; i-- > 0;)
		if (i != own &&
		    !add_word(p, sp, t->words[i].at, t->words[i].value))
			return false;
	if (p->words == 0)
		return false;
	while (p->words != padded(p->words)) {
		p->offset[p->words] = p->offset[0];
		p->value[p->words] = p->value[0];
		p->words++;
	}
	return true;
}

void path_learn(struct capture_thread *t, uintptr_t sp, uintptr_t fp,
		uint32_t context)
{
	const struct shadow_frame *inner = &t->frames[t->count - 1];
	uintptr_t ra = t->innermost_ra;
	struct path *p;

	if (t->word_count > PATH_WORDS + 1 || context < GT_STOP_COUNT ||
	    !seen_before(t, ra, sp, context))
		return;
	if (++t->path_inserts > 4 * PATH_WAYS * (t->set_mask + 1))
		path_grow(t);
	p = path_set_of(t, ra, sp)->way;
	if (p[0].ra && (!p[1].ra || t->path_inserts & 1))
		p++;
	p->ra = 0;
	if (!path_fill(p, t, sp))
		return;
	p->sp = sp;
	p->fp = fp;
	p->fp_mask = inner->flags & FRAME_FP ? UINTPTR_MAX : 0;
	p->context = context;
	p->ra = ra;
}
