/*
 * shadow.c: stores and validates the last walk.
 *
 * I1  Addresses decrease from word to word, slots from frame to frame:
 *     frames[0] is a sentinel beyond all memory, frames[1] the outermost frame,
 *     highest in memory.
 * I2  A frame's context is that of the stack from frames[1] to it.
 * I3  If words[0 … n) equal memory, a new walk that arrives in the same state
 *     at a frame whose own word is among them would continue as the last walk
 *     did: all words it would read lie further out, before that word in the
 *     list.
 * I4  If a barrier's slot holds its stub, and I3's words from there inward
 *     equal memory, or the walk itself arrives there, then the words further
 *     out are unchanged: a frame inward of them all has not returned. (If a
 *     stack was copied back, it may have returned and stand there again:
 *     shadow_recheck.)
 * I5  barrier[] rises; it lists the frames whose mark has MARK_BARRIER. Any
 *     stub in a shadow frame's slot was there when the walk made the frame, or
 *     was placed since.
 *
 * The word with a frame's saved fp lies inward of its slot, so behind it in the
 * list. At the frame that a walk joins, it may belong to a callee that has
 * returned, and need not be unchanged. walk_fast compares the fp itself there.
 *
 * I6  In a thread that has given up barriers, each walk removes the barriers
 *     that it meets.
 *
 * Thread context: the thread that owns the state; not reentrant.
 */
#include "unwind/base/assertion.h"
#include "unwind/shadow.h"

#ifdef GNOMON_DEBUG_ASSERTS
#define VALID_FRAMES 64u	/* checked, from the innermost on */

static bool barriers_are_valid(const struct capture_thread *t)	/* I5 */
{
	uint32_t i;

	if (t->barrier_count > BARRIERS_MAX)
		return false;
	for (i = 0; i < t->barrier_count; i++)
		if (t->barrier[i] == 0 || t->barrier[i] >= t->count ||
		    (i && t->barrier[i] <= t->barrier[i - 1]) ||
		    !(t->frames[t->barrier[i]].mark & MARK_BARRIER))
			return false;
	return true;
}

bool shadow_is_valid(const struct capture_thread *t)
{
	uint32_t i, most = VALID_FRAMES;

	if (t->count == 0 || t->count > t->capacity ||
	    t->word_count > 2 * t->capacity ||
	    t->frames[0].slot != UINTPTR_MAX || !barriers_are_valid(t))
		return false;
	for (i = t->count - 1; i > 0 && most; i--, most--) {
		const struct shadow_frame *f = &t->frames[i];

		if (f->slot >= f[-1].slot || f->word >= t->word_count ||
		    t->words[f->word].at != f->slot ||
		    t->words[f->word].value != f->raw ||
		    (i > 1 && f->word <= f[-1].word))
			return false;
	}
	most = 2 * VALID_FRAMES;
	for (i = t->word_count; i-- > 1 && most; most--)
		if (t->words[i].at >= t->words[i - 1].at)
			return false;	/* I1 */
	return true;
}
#endif

#define FIND_AHEAD 16u	/* lookups prefetched at a time */

static void forget_barrier(struct capture_thread *t)
{
	struct shadow_frame *f = &t->frames[t->barrier[--t->barrier_count]];

	DEBUG_ASSERT(t->barrier_count < BARRIERS_MAX && f > t->frames);
	DEBUG_ASSERT(f->mark & MARK_BARRIER);
	f->mark &= ~MARK_BARRIER;
}

/* The innermost barrier that can prove frame `at` unchanged; else frames[0]. */
static struct shadow_frame *standing_barrier(struct capture_thread *t,
					     const struct shadow_frame *at)
{
	while (t->barrier_count) {
		struct shadow_frame *b =
			&t->frames[t->barrier[t->barrier_count - 1]];

		/* I5 */
		DEBUG_ASSERT(b > t->frames && b < t->frames + t->capacity);
		if (b <= at && *(const uintptr_t *)b->slot == b->raw)
			return b;
		forget_barrier(t);
	}
	return t->frames;
}

/* The first word in [w, end] that has changed; compares four at a time, without
 * a branch for each: 0.3 ns a word. */
static inline const struct shadow_word *
first_different(const struct shadow_word *w, const struct shadow_word *end)
{
	DEBUG_ASSERT(w <= end);
	while (end - w >= 3 &&
	       !(shadow_word_differs(w) | shadow_word_differs(w + 1) |
		 shadow_word_differs(w + 2) | shadow_word_differs(w + 3)))
		w += 4;
	while (w <= end && !shadow_word_differs(w))
		w++;
	return w;
}

struct shadow_frame *shadow_validate(struct capture_thread *t,
				     struct shadow_frame *at)
{
	const struct shadow_word *w;
	uint32_t unchanged;

	DEBUG_ASSERT(at < t->frames + t->count && at->word <= t->word_count);
	w = first_different(t->words + standing_barrier(t, at)->word,
			    t->words + at->word);
	unchanged = (uint32_t)(w - t->words);
	while (at > t->frames && at->word >= unchanged)
		at--;
	return at;
}

bool shadow_stands(const struct capture_thread *t, uint32_t at)
{
	const struct shadow_word *end = t->words + t->frames[at].word;
	const struct shadow_word *from = t->words;
	uint32_t i;

	DEBUG_ASSERT(at < t->count);
	for (i = t->barrier_count; i-- > 0;) {
		const struct shadow_frame *f = &t->frames[t->barrier[i]];

		if (t->barrier[i] > at ||
		    *(const uintptr_t *)f->slot != f->raw)
			continue;
		from = t->words + f->word;
		break;
	}
	return first_different(from, end) > end;
}

/* Compares all words outward of the innermost barrier. The barriers that remain
 * are as reliable as when they were placed: until their next use only calls and
 * returns happen, or this is called again. */
void shadow_recheck(struct capture_thread *t)
{
	const struct shadow_word *end;
	uint32_t unchanged;

	if (!t->barrier_count)
		return;
	end = t->words + t->frames[t->barrier[t->barrier_count - 1]].word;
	DEBUG_ASSERT(end < t->words + t->word_count);
	unchanged = (uint32_t)(first_different(t->words, end) - t->words);
	while (t->barrier_count &&
	       t->frames[t->barrier[t->barrier_count - 1]].word >= unchanged)
		forget_barrier(t);
}

static void add_word(struct capture_thread *t, uintptr_t at, uintptr_t value)
{
	DEBUG_ASSERT(t->word_count < 2 * t->capacity);
	/* I1, by I2 of walk.c */
	DEBUG_ASSERT(!t->word_count || at < t->words[t->word_count - 1].at);
	t->words[t->word_count++] = (struct shadow_word){ at, value };
}

/* Records frames[at], whose slot holds a stub, as a barrier. */
static void add_barrier(struct capture_thread *t, uint32_t at)
{
	uint32_t i = t->barrier_count;

	DEBUG_ASSERT(at > 0 && at < t->count && i <= BARRIERS_MAX);
	if (i == BARRIERS_MAX) {
		/* The outermost one is missed least. */
		t->frames[t->barrier[0]].mark &= ~MARK_BARRIER;
		for (i = 0; i < BARRIERS_MAX - 1; i++)
			t->barrier[i] = t->barrier[i + 1];
		t->barrier_count--;
	}
	for (; i > 0 && t->barrier[i - 1] > at; i--)
		t->barrier[i] = t->barrier[i - 1];
	DEBUG_ASSERT(i == 0 || t->barrier[i - 1] < at);	/* I5 */
	t->barrier[i] = at;
	t->barrier_count++;
	t->frames[at].mark |= MARK_BARRIER;
}

void shadow_place_barrier(struct capture_thread *t, uint32_t at,
			  uintptr_t stub)
{
	struct shadow_frame *f = &t->frames[at];

	/* the program's stack is written */
	if (!ASSERT(at > 0 && at < t->count))
		return;
	DEBUG_ASSERT(!(f->mark & MARK_BARRIER));
	DEBUG_ASSERT(t->words[f->word].at == f->slot);
	f->raw = stub;
	t->words[f->word].value = stub;
	/* A plain store: only this thread reads its stack. */
	*(uintptr_t *)f->slot = stub;
	t->report->barriers_placed++;
	add_barrier(t, at);
}

/* The word for the slot of a frame in which a stub was found: the return
 * address itself, if the thread has given up barriers. */
static uintptr_t stub_met(const struct capture_thread *t,
			  const struct frame *f)
{
	uintptr_t *slot = (uintptr_t *)f->slot;

	DEBUG_ASSERT(f->flags & FRAME_STUB);
	/* never a signed one (placement.c) */
	if (t->mode != GT_MODE_BARRIERS)
		*slot = f->ra;
	return *slot;
}

static void add_frame(struct capture_thread *t, const struct frame *f,
		      uint32_t context)
{
	struct shadow_frame *to = &t->frames[t->count++];

	DEBUG_ASSERT(t->count <= t->capacity && f->slot < to[-1].slot);	/* I1 */
	to->slot = f->slot;
	to->raw = frame_raw(f);
	to->hash = f->hash;
	to->mark = context;
	to->word = t->word_count;
	to->fp = f->fp;
	to->flags = f->flags;
	shadow_frame_set_sp(to, frame_sp(f));
	if (__builtin_expect(f->flags & FRAME_STUB, 0))
		to->raw = stub_met(t, f);
	add_word(t, f->slot, to->raw);
	if (f->flags & FRAME_FP_AT)
		add_word(t, f->fp_at, f->fp);
	/* A barrier that stood there before, which this walk has reached. */
	if (__builtin_expect(arch_return_address(to->raw) != f->ra, 0))
		add_barrier(t, t->count - 1);
}

/* Drops the frames inward of the joined one; the words that the new walk read
 * there replace theirs. */
static void cut_at(struct capture_thread *t, uint32_t join,
		   const struct frame *own)
{
	DEBUG_ASSERT(t->frames[join].slot == own->slot);
	DEBUG_ASSERT(t->frames[join].word < t->word_count);
	t->count = join + 1;
	t->word_count = t->frames[join].word + 1;
	if (own->flags & FRAME_FP_AT)
		add_word(t, own->fp_at, own->fp);
	while (t->barrier_count &&
	       t->barrier[t->barrier_count - 1] > join)
		forget_barrier(t);
}

/*
 * Finds the contexts of scratch[0 … n), which were called from `outer` and have
 * their hashes: by the innermost hash if the stack is known, else one by one.
 * Returns the innermost one's.
 */
static uint32_t find_contexts(struct frame *scratch, uint32_t n,
			      uint32_t outer)
{
	uint32_t id = n ? context_guess(context_newest(), scratch->hash,
					scratch->ra) : 0, i;
	struct context_trail trail;
	bool known = id != 0;

	if (known)
		trail = context_trail_at(id);
	for (i = 0; i < n && known; i++) {
		if (scratch[i].flags & FRAME_WORD)
			continue;
		scratch[i].context = trail.id;
		known = context_trail_step(&trail, scratch[i].ra);
	}
	if (known && trail.id == outer)
		return id;
	for (i = n; n-- > 0;) {
		/* (a FRAME_WORD has an arbitrary hash) */
		for (; i > 0 && i + FIND_AHEAD > n; i--)
			context_prefetch(context_newest(), scratch[i - 1].hash);
		if (!(scratch[n].flags & FRAME_WORD))
			scratch[n].context = outer =
				context_child(outer, scratch[n].ra,
					      scratch[n].hash, true);
	}
	return outer;
}

/* Whether the walk's frames do not fit behind frames[join]: each takes two
 * words at most. */
static bool has_no_room(const struct capture_thread *t, const struct walk *w,
			uint32_t join)
{
	uint64_t words = (join ? t->frames[join].word : 0) + 2u +
			 2 * (uint64_t)w->count;

	return t->capacity <= join + w->count + FRAMES_SPARE ||
	       2 * (uint64_t)t->capacity <= words + FRAMES_SPARE;
}

uint32_t shadow_update(struct capture_thread *t, const struct walk *w,
		       enum walk_end end)
{
	uint32_t i = w->count, parent = w->stop;
	const struct frame *f;

	while (has_no_room(t, w, end == WALK_JOINED ? w->join : 0))
		if (!stack_grow(t)) {
			parent = shadow_context_only(t, w, end);
			shadow_clear(t);
			return parent;
		}
	DEBUG_ASSERT(w->count > 0 && w->count <= t->capacity);
	DEBUG_ASSERT(end != WALK_NEEDS_FULL && w->stop < GT_STOP_COUNT);
	if (end == WALK_JOINED) {
		DEBUG_ASSERT(w->join > 0 && w->join < t->count);
		i--;
		parent = (uint32_t)t->frames[w->join].mark;
		cut_at(t, w->join, &t->scratch[i]);
	} else {
		shadow_clear(t);
		shadow_hash(t->scratch, t->scratch + i,
			    context_hash_root(w->stop));
	}
	parent = find_contexts(t->scratch, i, parent);
	for (f = t->scratch + i - 1; f >= t->scratch; f--)
		if (f->flags & FRAME_WORD)
			add_word(t, f->slot, frame_raw(f));
		else
			add_frame(t, f, f->context);
	ASSERT(t->count <= t->capacity && t->word_count <= 2 * t->capacity);
	DEBUG_ASSERT(shadow_is_valid(t));
	return parent;
}

uint32_t shadow_context_only(struct capture_thread *t, const struct walk *w,
			     enum walk_end end)
{
	uint32_t i = w->count, parent = w->stop;

	DEBUG_ASSERT(end != WALK_JOINED || w->join < t->count);
	if (end == WALK_JOINED) {
		i--;
		parent = (uint32_t)t->frames[w->join].mark;
	} else {
		shadow_hash(t->scratch, t->scratch + i,
			    context_hash_root(w->stop));
	}
	return find_contexts(t->scratch, i, parent);
}
