/*
 * shadow.c: keeping and re-checking the last walk.
 *
 * I1  Addresses fall from word to word, slots from frame to frame: the
 *     outermost frame, frames[0], is highest in memory.
 * I2  A frame's context is that of the stack from frames[0] to it.
 * I3  If words[0 … n) equal memory, a new walk that arrives in the same state
 *     at a frame whose own word is among them would go on as the last walk
 *     did: all it would read lies further out, so before that word.
 *
 * The word with a frame's saved fp lies inward of its slot, so behind it in
 * the list: at the frame that a walk joins it may belong to a callee that has
 * returned, and need not stand. walk_fast compares the fp itself there.
 *
 * Thread context: the thread that owns the state; not reentrant.
 */
#include "unwind/context.h"
#include "unwind/shadow.h"

static inline uintptr_t word_differs(const struct shadow_word *w)
{
	return *(const uintptr_t *)w->at ^ w->value;
}

uint32_t shadow_validate(struct capture_thread *t, uintptr_t sp)
{
	const struct shadow_word *w = t->words, *end = w + t->word_count;
	uint32_t n = t->count, standing;

	while (end > w && end[-1].at < sp + ARCH_RA_OFFSET)
		end--;
	/* Four at a time, without a branch for each: 0.3 ns a word. */
	while (end - w >= 4 &&
	       !(word_differs(w) | word_differs(w + 1) |
		 word_differs(w + 2) | word_differs(w + 3)))
		w += 4;
	while (w < end && !word_differs(w))
		w++;
	standing = (uint32_t)(w - t->words);
	while (n && t->frames[n - 1].word >= standing)
		n--;
	return n;
}

/* Hashes of the walk's frames, outermost first, so that what the tree will be
 * asked is on its way into the cache by then. */
static void hash_frames(struct frame *f, uint32_t n, uint64_t hash)
{
	const struct context_table *table = context_newest();

	while (n-- > 0) {
		if (f[n].flags & FRAME_WORD)
			continue;
		hash = context_hash(hash, f[n].ra);
		context_prefetch(table, hash);
		f[n].hash = hash;
	}
}

static void add_word(struct capture_thread *t, uintptr_t at, uintptr_t value)
{
	t->words[t->word_count++] = (struct shadow_word){ at, value };
}

static void add_frame(struct capture_thread *t, const struct frame *f,
		      uint32_t context)
{
	struct shadow_frame *to = &t->frames[t->count++];

	to->slot = f->slot;
	to->hash = f->hash;
	to->context = context;
	to->word = t->word_count;
	to->fp = f->fp;
	to->flags = f->flags;
	add_word(t, f->slot, f->ra);
	if (f->fp_at)
		add_word(t, f->fp_at, f->fp);
}

/* Drops what lies inward of the joined frame; what the new walk read there
 * takes its place. */
static void cut_at(struct capture_thread *t, uint32_t join,
		   const struct frame *own)
{
	t->count = join + 1;
	t->word_count = t->frames[join].word + 1;
	if (own->fp_at)
		add_word(t, own->fp_at, own->fp);
}

uint32_t shadow_update(struct capture_thread *t, const struct walk *w,
		       enum walk_end end)
{
	uint32_t i = w->count, parent = w->stop;
	uint64_t hash = context_hash_root(w->stop);

	while (t->capacity < (end == WALK_JOINED ? w->join : 0) + w->count)
		if (!stack_grow(t)) {
			t->count = t->word_count = 0;
			return shadow_context_only(t, w);
		}
	t->innermost_ra = t->scratch[0].ra;
	if (end == WALK_JOINED) {
		i--;
		parent = t->frames[w->join].context;
		hash = t->frames[w->join].hash;
		cut_at(t, w->join, &t->scratch[i]);
	} else {
		t->count = t->word_count = 0;
	}
	hash_frames(t->scratch, i, hash);
	while (i-- > 0) {
		const struct frame *f = &t->scratch[i];

		if (f->flags & FRAME_WORD) {
			add_word(t, f->slot, f->ra);
			continue;
		}
		parent = context_child(parent, f->ra, f->hash);
		add_frame(t, f, parent);
	}
	return parent;
}

uint32_t shadow_context_only(struct capture_thread *t, const struct walk *w)
{
	uint32_t i = w->count, parent = w->stop;

	hash_frames(t->scratch, i, context_hash_root(w->stop));
	while (i-- > 0)
		if (!(t->scratch[i].flags & FRAME_WORD))
			parent = context_child(parent, t->scratch[i].ra,
					       t->scratch[i].hash);
	return parent;
}
