/*
 * path.c: filling the path cache.
 *
 * Sets of PATH_WAYS, one array a thread. It starts small (most threads of most
 * programs do little) and grows fourfold after so many misses that it could
 * have been filled several times over, up to SETS_MAX. A filter of one word
 * per hash remembers which stack was met there last: only the second meeting
 * is worth the copy.
 *
 * I1  A path is only made of a walk on the base stack, all of whose words lie
 *     in [lo, hi): it can be compared in any order for as long as the thread
 *     lives.
 * I2  Empty ways have a key whose ra is 0; a way is filled before its key.
 *
 * Thread context: the thread that owns the state; not reentrant.
 */
#include "unwind/path.h"

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

/* 0 or -ENOMEM; then nothing has changed. */
static int path_resize(struct capture_thread *t, uint64_t sets)
{
	uint32_t seen = seen_size(sets);
	char *area = unwind_alloc(sets * sizeof(struct path_set) +
				  seen * sizeof(*t->seen));

	if (!area)
		return -12;	/* ENOMEM */
	t->sets = (struct path_set *)area;
	t->set_mask = sets - 1;
	t->seen = (uint32_t *)(t->sets + sets);
	t->seen_mask = seen - 1;
	return 0;
}

int path_init(struct capture_thread *t)
{
	return path_resize(t, SETS_FIRST);
}

void path_clear(struct capture_thread *t)
{
	uint64_t i;
	unsigned w;

	for (i = 0; i <= t->set_mask; i++)
		for (w = 0; w < PATH_WAYS; w++)
			t->sets[i].key[w].ra = 0;
}

static uint64_t path_bytes(uint64_t sets)
{
	return sets * sizeof(struct path_set) +
	       seen_size(sets) * sizeof(uint32_t);
}

void path_describe(const struct capture_thread *t,
		   struct capture_thread_info *info)
{
	uint64_t i;
	unsigned w;

	info->path_bytes = path_bytes(t->set_mask + 1);
	info->path_bytes_max = path_bytes(SETS_MAX);
	info->path_ways = (t->set_mask + 1) * PATH_WAYS;
	info->path_ways_used = 0;
	for (i = 0; i <= t->set_mask; i++)
		for (w = 0; w < PATH_WAYS; w++)
			info->path_ways_used += t->sets[i].key[w].ra != 0;
}

static void path_grow(struct capture_thread *t)
{
	uint64_t sets = (t->set_mask + 1) * 4;

	t->path_misses = 0;
	if (sets <= SETS_MAX)
		path_resize(t, sets);	/* without memory: as it is */
}

static bool seen_before(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
			uint32_t context)
{
	uint64_t h = (ra ^ sp << 16 ^ (uint64_t)context << 40) *
		     UINT64_C(0xc2b2ae3d27d4eb4f);
	uint32_t *s = &t->seen[h >> 32 & t->seen_mask];

	if (*s == context)
		return true;
	*s = context;
	return false;
}

static bool add_word(struct path *p, uint32_t i, uintptr_t sp, uintptr_t at,
		     uintptr_t value)
{
	uintptr_t offset = (at - sp) / ARCH_WORD;
	struct path_block *b = &p->block[i / PATH_BLOCK];

	if (i >= PATH_WORDS || at < sp || offset > UINT16_MAX)
		return false;
	b->offset[i % PATH_BLOCK] = (uint16_t)offset;
	b->value[i % PATH_BLOCK] = value;
	return true;
}

/* Copies the words of the shadow, innermost first, but for that of the hook's
 * own return address: it is part of the key. */
static bool path_fill(struct path *p, const struct capture_thread *t,
		      uintptr_t sp)
{
	uint32_t i, n = 0, own = t->frames[t->count - 1].word;

	for (i = t->word_count; i-- > 0;)
		if (i != own && !add_word(p, n++, sp, t->words[i].at,
					  t->words[i].value))
			return false;
	if (n == 0)
		return false;
	for (; n % PATH_BLOCK; n++) {
		struct path_block *b = &p->block[n / PATH_BLOCK];

		b->offset[n % PATH_BLOCK] = p->block[0].offset[0];
		b->value[n % PATH_BLOCK] = p->block[0].value[0];
	}
	p->blocks = (uint16_t)(n / PATH_BLOCK);
	return true;
}

static unsigned way_to_fill(const struct path_set *set, uint32_t inserts)
{
	unsigned w;

	for (w = 0; w < PATH_WAYS; w++)
		if (set->key[w].ra == 0)
			return w;
	return inserts % PATH_WAYS;
}

void path_learn(struct capture_thread *t, uintptr_t sp, uintptr_t fp,
		uint32_t context)
{
	uintptr_t ra = t->innermost_ra;
	struct path_set *set;
	struct path *p;
	unsigned w;

	if (t->word_count > PATH_WORDS + 1 || context < GT_STOP_COUNT)
		return;
	if (++t->path_misses > GROW_AFTER * PATH_WAYS * (t->set_mask + 1))
		path_grow(t);
	if (!seen_before(t, ra, sp, context))
		return;
	set = path_set_of(t, ra, sp);
	w = way_to_fill(set, t->path_misses);
	p = &set->way[w];
	set->key[w].ra = 0;
	if (!path_fill(p, t, sp))
		return;
	p->context = context;
	p->uses_fp = (t->frames[t->count - 1].flags & FRAME_FP) != 0;
	p->fp = fp;
	set->key[w].sp = sp;
	set->key[w].ra = ra;
}
