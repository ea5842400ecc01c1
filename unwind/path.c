/*
 * path.c: fills the path cache.
 *
 * Sets of PATH_WAYS, one array a thread. The cache starts small (most threads
 * of most programs do little) and grows fourfold after as many misses as could
 * have filled it several times, up to SETS_MAX. A filter with half a word for
 * each hash remembers the stack last captured there: a stack is stored only at
 * its second capture.
 *
 * I1  The words of a path on the base stack lie in [lo, hi) or in the hook's
 *     own frame: with the same sp they can be compared in any order while the
 *     thread lives.
 * I4  The words of a path on any other stack are in the order of the walk,
 *     which reached the outermost frame, and no block has words of two pages.
 *     Blocks are compared in order up to the first that differs. When a page is
 *     read, all words that the walk read before are therefore unchanged: the
 *     walk would proceed to that page and read words of live frames there, so
 *     the page is mapped.
 * I2  The key of an empty way is 0; a way is filled before its key.
 * I3  A path with a tail was made when the shadow's frames up to the tail were
 *     those outward of its words. It is valid while the shadow has, at the same
 *     index, a frame with the same slot and context: equal words prove that the
 *     walk would arrive there. If that frame is a barrier, its stub is among
 *     the words, and the frames outward are as in the shadow (I4 of shadow.c);
 *     otherwise the shadow's words are compared. (The barrier need not be the
 *     one that stood when the path was made: one placed there again, with the
 *     same context, makes the path valid again.)
 *
 * Thread context: the thread that owns the state; not reentrant.
 */
#include <stdatomic.h>

#include "unwind/base/assertion.h"
#include "unwind/base/memory.h"
#include "unwind/path.h"
#include "unwind/shadow.h"

_Static_assert(sizeof(uintptr_t) < 8 || sizeof(struct path) == 9 * 64,
	       "a path fills its cache lines");

#define SETS_FIRST 4u
#define SETS_MAX 1024u
#define GROW_AFTER 8u	/* misses for each way */
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
	return sets * PATH_WAYS * (sizeof(struct path) + sizeof(uintptr_t)) +
	       seen_size(sets) * sizeof(uint16_t);
}

static uint64_t path_sets(const struct capture_thread *t)
{
	return t->set_mask / PATH_SET + 1;
}

/*
 * 0; or -ENOMEM, and nothing has changed. A handler's jump may leave it at any
 * point, and path_clear is called then: so the old memory is released only when
 * nothing refers to it, and there are never more sets than the arrays hold.
 */
static int path_resize(struct capture_thread *t, uint64_t sets)
{
	uint64_t before = t->paths ? path_bytes(path_sets(t)) : 0;
	char *area = unwind_alloc(path_bytes(sets));
	struct path *left = t->paths;

	if (!area)
		return -12;	/* ENOMEM */
	ASSERT(sets >= SETS_FIRST && sets <= SETS_MAX && !(sets & (sets - 1)));
	DEBUG_ASSERT((uintptr_t)area % _Alignof(struct path) == 0);
	unwind_want_pages(area, path_bytes(sets));
	t->report->path_ways = PATH_WAYS;
	t->set_mask = t->seen_mask = 0;
	atomic_signal_fence(memory_order_seq_cst);
	t->paths = (struct path *)area;
	t->keys = (uintptr_t *)(t->paths + sets * PATH_WAYS);
	t->seen = (uint16_t *)(t->keys + sets * PATH_WAYS);
	atomic_signal_fence(memory_order_seq_cst);
	t->report->path_ways_used = 0;
	t->report->path_ways = sets * PATH_WAYS;
	t->report->path_bytes = path_bytes(sets);
	t->report->path_bytes_max = path_bytes(SETS_MAX);
	t->path_patience = GROW_AFTER * PATH_WAYS * (uint32_t)sets;
	t->seen_mask = seen_size(sets) - 1;
	t->set_mask = (sets - 1) * PATH_SET;
	if (before)
		unwind_leave_pages(left, before);
	DEBUG_ASSERT(path_is_valid(t));
	return 0;
}

int path_init(struct capture_thread *t)
{
	return path_resize(t, SETS_FIRST);
}

void path_clear(struct capture_thread *t)
{
	uint64_t i;

	for (i = 0; i < path_sets(t) * PATH_WAYS; i++)
		t->keys[i] = 0;
	for (i = 0; i < WRAPPERS; i++)
		t->wrappers[i].ra = 0;
	t->report->path_ways_used = 0;
	DEBUG_ASSERT(path_is_valid(t));
}

static void path_grow(struct capture_thread *t)
{
	uint64_t sets = path_sets(t) * 4;

	DEBUG_ASSERT(t->path_misses > t->path_patience);
	t->path_misses = 0;
	if (sets <= SETS_MAX && !(unwind_scarce && unwind_scarce()))
		path_resize(t, sets);	/* without memory it stays as it is */
}

#ifdef GNOMON_DEBUG_ASSERTS
/* Checks the pairs and the tail. */
static bool ends_are_valid(const struct path *p)
{
	uint64_t i;

	for (i = p->pairs; i < sizeof(p->offset); i += PATH_OFFSETS)
		if (!path_offsets(p, i)[PATH_MORE] !=
		    (i == sizeof(p->offset) - PATH_OFFSETS))
			return false;
	return p->paired == (p->pairs < sizeof(p->offset)) &&
	       p->tail_words * sizeof(uintptr_t) ==
		       p->tail * sizeof(struct shadow_frame) &&
	       (!p->slot || !p->far) &&
	       !p->tail == !(p->slot | p->far) &&
	       !p->slot == !(p->mark & MARK_BARRIER);
}

static bool one_is_valid(const struct capture_thread *t, const struct path *p)
{
	return p->context >= GT_STOP_COUNT && p->singles_end > 0 &&
	       p->singles_end % PATH_OFFSETS == 0 &&
	       p->pairs % PATH_OFFSETS == 0 &&
	       p->singles_end <= p->pairs && p->pairs <= sizeof(p->offset) &&
	       p->tail < t->capacity && ends_are_valid(p);
}

bool path_is_valid(const struct capture_thread *t)
{
	uint64_t i, used = 0, sets = path_sets(t), ways = sets * PATH_WAYS;

	if (sets & (sets - 1) || sets > SETS_MAX || t->set_mask % PATH_SET ||
	    t->seen_mask != seen_size(sets) - 1 ||
	    t->report->path_ways != ways)
		return false;
	for (i = 0; i < WRAPPERS; i++)
		if (t->wrappers[i].ra && path_wrapper(t->wrappers[i].ra) != i)
			return false;
	for (i = 0; i < ways; i++) {
		used += t->keys[i] != 0;
		if (t->keys[i] && (t->keys[i] % ARCH_WORD ||
				   !one_is_valid(t, &t->paths[i])))
			return false;	/* I2 */
	}
	return t->report->path_ways_used == used;
}
#endif

/* A path being filled; pairs and singles are counted separately. Words are
 * added outermost first, as both kinds have their outermost at an end of the
 * blocks. */
struct path_draft {
	struct path *path;
	uintptr_t key;
	uint32_t pairs, singles;
};

/* The first index of the block that contains a pair. */
static uint32_t block_of_pair(uint32_t i)
{
	return PATH_WORDS - PATH_BLOCK - 2 * i / PATH_BLOCK * PATH_BLOCK;
}

/* False: there is no room, or the word is too far away. */
static bool find_offset(const struct path_draft *d, uint32_t words,
			uintptr_t at, uint16_t *offset)
{
	uintptr_t distance = (at - d->key) / ARCH_WORD;
	uint32_t blocks = (d->singles + PATH_BLOCK - 1) / PATH_BLOCK +
			  (2 * d->pairs + PATH_BLOCK - 1) / PATH_BLOCK;

	DEBUG_ASSERT((at - d->key) % ARCH_WORD == 0);
	if (!((words == 1 ? d->singles : 2 * d->pairs) % PATH_BLOCK))
		blocks++;	/* it begins a block */
	if (blocks > PATH_WORDS / PATH_BLOCK || at < d->key ||
	    distance > UINT16_MAX)
		return false;
	*offset = (uint16_t)distance;
	return true;
}

static bool add_single(struct path_draft *d, struct shadow_word word)
{
	if (!find_offset(d, 1, word.at, &d->path->offset[d->singles]))
		return false;
	d->path->value[d->singles++] = word.value;
	return true;
}

/* high: the word behind it. */
static bool add_pair(struct path_draft *d, struct shadow_word word,
		     uintptr_t high)
{
	uint32_t i = d->pairs % (PATH_BLOCK / 2);
	uint32_t first = block_of_pair(d->pairs);

	if (!find_offset(d, 2, word.at, &d->path->offset[first + i]))
		return false;
	d->path->offset[first + PATH_MORE] =
		d->pairs / (PATH_BLOCK / 2) > 0;
	d->path->value[first + 2 * i] = word.value;
	d->path->value[first + 2 * i + 1] = high;
	d->pairs++;
	return true;
}

/* Completes the innermost block of single words by repeating its first. */
static void fill_singles(struct path_draft *d)
{
	DEBUG_ASSERT(d->singles > 0);
	for (; d->singles % PATH_BLOCK; d->singles++) {
		uint32_t first = d->singles / PATH_BLOCK * PATH_BLOCK;

		d->path->offset[d->singles] = d->path->offset[first];
		d->path->value[d->singles] = d->path->value[first];
	}
}

static void fill_path(struct path_draft *d)
{
	uint32_t first = block_of_pair(d->pairs);
	struct path *p = d->path;

	fill_singles(d);
	if (d->pairs % (PATH_BLOCK / 2)) {
		p->offset[first + 1] = p->offset[first];
		p->value[first + 2] = p->value[first];
		p->value[first + 3] = p->value[first + 1];
		d->pairs++;
	}
	p->singles_end = (uint16_t)(d->singles * sizeof(*p->offset));
	p->pairs = (uint16_t)((PATH_WORDS - 2 * d->pairs) *
			      sizeof(*p->offset));
	p->paired = d->pairs > 0;
}

/* The tail, where the path's words end: the innermost barrier (0: none), or, if
 * that leaves too many words, the outermost frame that does not. */
static uint32_t choose_tail(const struct capture_thread *t)
{
	uint32_t at = t->barrier_count ? t->barrier[t->barrier_count - 1] : 0;

	ASSERT(at < t->count);
	DEBUG_ASSERT(t->frames[at].word < t->word_count);
	if (t->word_count - t->frames[at].word < PATH_FULL)
		return at;
	for (at = t->count - 1; at > 1; at--)
		if (t->word_count - t->frames[at - 1].word >= PATH_FULL)
			return at;
	return 0;
}

/* Adds the shadow's words from `first` on, as pairs where two are adjacent and
 * not among the innermost. `own`: the hook's word, added last. */
static bool add_words(struct path_draft *d, const struct capture_thread *t,
		      uint32_t first, const struct shadow_word *own)
{
	uint32_t i, end = t->word_count;

	for (i = first; i < end; i++) {
		const struct shadow_word *w = &t->words[i];

		if (i + PATH_BLOCK < end && w[1].at + ARCH_WORD == w->at) {
			if (!add_pair(d, w[1], w->value))
				return false;
			i++;
		} else if (!add_single(d, *w)) {
			return false;
		}
	}
	return !own || add_single(d, *own);
}

/* tail 0: the path has none. */
static void set_tail(struct path *p, const struct capture_thread *t,
		     uint32_t tail)
{
	const struct shadow_frame *f = &t->frames[tail];
	bool barrier = tail && f->mark & MARK_BARRIER;

	p->tail = tail;
	p->tail_words = tail * (uint32_t)(sizeof(*f) / sizeof(uintptr_t));
	p->mark = tail ? f->mark : 0;
	p->slot = barrier ? f->slot : 0;
	p->far = tail && !barrier ? f->slot : 0;
}

/* Copies the words of the shadow. */
static bool path_fill(struct path_draft *d, const struct capture_thread *t)
{
	const struct shadow_frame *inner = &t->frames[t->count - 1];
	const struct shadow_word own = { d->key, inner->fp };

	DEBUG_ASSERT(t->count > 1);
	set_tail(d->path, t, choose_tail(t));
	return add_words(d, t, t->frames[d->path->tail].word,
			 inner->flags & FRAME_FP ? &own : NULL);
}

/* Adds the next word; words of different pages never share a block. */
static bool add_in_order(struct path_draft *d, uintptr_t at, uintptr_t value)
{
	if (d->singles % PATH_BLOCK) {
		uint32_t first = d->singles / PATH_BLOCK * PATH_BLOCK;
		uintptr_t outer = d->key + ARCH_WORD *
				  (uintptr_t)d->path->offset[first];

		if ((outer ^ at) / UNWIND_PAGE)
			fill_singles(d);
	}
	return add_single(d, (struct shadow_word){ at, value });
}

/* Copies the words of the scratch (I4). */
static bool path_fill_foreign(struct path_draft *d,
			      const struct capture_thread *t, uint32_t frames)
{
	const struct frame *f = t->scratch + frames;

	DEBUG_ASSERT(frames > 0 && frames <= t->capacity);
	set_tail(d->path, t, 0);
	while (f-- > t->scratch) {
		if (f->flags & (FRAME_WORD | FRAME_STUB) ||
		    !add_in_order(d, f->slot, frame_raw(f)))
			return false;
		if (f->flags & FRAME_FP_AT &&
		    !add_in_order(d, f->fp_at, f->fp))
			return false;
	}
	return !(t->scratch->flags & FRAME_FP) ||
	       add_in_order(d, d->key, t->scratch->fp);
}

/* Selects the way of a set to overwrite: the same stack's if there is one (its
 * barriers differed then), an empty one, or any. */
static unsigned way_to_leave(const uintptr_t *keys, const struct path *paths,
			     uintptr_t key, uint32_t context, uint32_t inserts)
{
	unsigned w, left = inserts % PATH_WAYS;

	for (w = PATH_WAYS; w-- > 0;) {
		if (keys[w] == key && paths[w].context == context)
			return w;
		if (keys[w] == 0)
			left = w;
	}
	return left;
}

/* Empties the first way of a set, which lookups compare first. Its path moves
 * to another way: the path last learned is the most likely hit. */
static struct path *path_take(struct capture_thread *t, uint64_t hash,
			      uintptr_t key, uint32_t context)
{
	uint64_t first = path_set(t, hash) / sizeof(*t->keys);
	uintptr_t *keys = &t->keys[first];
	struct path *paths = &t->paths[first];
	unsigned w = way_to_leave(keys, paths, key, context, t->path_misses);

	DEBUG_ASSERT(first + PATH_WAYS <= t->report->path_ways);
	t->report->path_ways_used -= keys[w] != 0;
	keys[w] = 0;
	if (w && keys[0]) {
		paths[w] = paths[0];
		keys[w] = keys[0];	/* I2 */
		keys[0] = 0;
	}
	return paths;
}

/* The number of ways of the set with this key. */
static unsigned ways_with(const uintptr_t *keys, uintptr_t key)
{
	unsigned w, n = 0;

	for (w = 0; w < PATH_WAYS; w++)
		n += keys[w] == key;
	return n;
}

/* Makes the next return address take part in selecting the set, if the frame's
 * size is always the same. */
static void learn_wrapper(struct capture_thread *t, uintptr_t ra, uintptr_t sp)
{
	struct path_wrapper *w = &t->wrappers[path_wrapper(ra)];
	uintptr_t cfa;
	uint32_t rule;

	if (w->ra || sp - t->lo >= t->hi - t->lo)
		return;
	rule = rule_of(rule_cache, ra);
	if (!(rule & WORD_PLAIN))
		return;
	cfa = sp + rule_size(rule) * ARCH_RULE_UNIT;
	w->distance = arch_rule_slot(sp, cfa, rule) - path_key(sp);
	w->ra = ra;
}

/*
 * The hash that selects the set for a stack to store. If the set of its own
 * return address is full of its key, or the return address is already a
 * wrapper's, the ways with this key would be compared in vain, and are dropped.
 */
static uint64_t hash_to_learn(struct capture_thread *t, uintptr_t ra,
			      uintptr_t sp, bool base)
{
	uintptr_t key = path_key(sp);
	uint64_t hash = path_hash(ra, key), chosen;
	uintptr_t *keys = &t->keys[path_set(t, hash) / sizeof(*t->keys)];
	unsigned w;

	if (base && ways_with(keys, key) == PATH_WAYS)
		learn_wrapper(t, ra, sp);
	chosen = path_choice(t, ra, key);
	if (chosen == hash)
		return hash;
	for (w = 0; w < PATH_WAYS; w++)
		if (keys[w] == key) {
			keys[w] = 0;
			t->report->path_ways_used--;
		}
	return chosen;
}

void path_learn_slow(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		     uint32_t context, uint32_t frames)
{
	struct path_draft d = { .key = path_key(sp) };

	if (t->path_misses > t->path_patience) {
		path_grow(t);
		return;
	}
	if (context < GT_STOP_COUNT)
		return;
	d.path = path_take(t, hash_to_learn(t, ra, sp, frames == 0), d.key,
			   context);
	if (frames ? !path_fill_foreign(&d, t, frames) : !path_fill(&d, t))
		return;
	fill_path(&d);
	d.path->context = context;
	DEBUG_ASSERT(t->report->path_ways_used < t->report->path_ways);
	DEBUG_ASSERT(one_is_valid(t, d.path));
	DEBUG_ASSERT(d.key);	/* I2 */
	t->keys[d.path - t->paths] = d.key;
	t->report->path_ways_used++;
}

/* Like path_ends_simply, for any tail (I3). */
static bool ends(const struct capture_thread *t, const struct path *p)
{
	const struct shadow_frame *f = &t->frames[p->tail];

	return path_ends_simply(t, p) ||
	       (p->far && p->tail < t->count && f->mark == p->mark &&
		f->slot == p->far && shadow_stands(t, p->tail));
}

const struct path *path_find_slow(const struct capture_thread *t, uintptr_t ra,
				  uintptr_t sp)
{
	uintptr_t key = path_key(sp);
	uint64_t w = path_set(t, path_choice(t, ra, key)) / sizeof(*t->keys);
	uint64_t last = w + PATH_WAYS;

	for (; w < last; w++)
		if (t->keys[w] == key && path_words_equal(&t->paths[w], key) &&
		    ends(t, &t->paths[w]))
			return &t->paths[w];
	return NULL;
}
