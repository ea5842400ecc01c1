/*
 * stack.c: probes which stack memory is readable.
 *
 * The base stack's outer end is given (the main thread) or is the thread
 * pointer: the C library places its thread block at the outer end of a stack
 * that it allocates. If that is not so, the probe of some page fails and the
 * stack counts as foreign, which is slower but safe.
 *
 * I1  Every page that overlaps [lo, hi) was readable when lo was lowered to it.
 * I2  floor is 0, or the lowest readable address after a failed probe; an sp
 *     below it is foreign without another try.
 *
 * Thread context: the thread that owns the state.
 */
#include "unwind/base/assertion.h"
#include "unwind/stack.h"

#define BASE_MAX (UINT64_C(1) << 30)	/* a stack is no larger than 1 GiB … */
#define STEP_MAX (64u << 20)		/* … and grows by at most this at once */
#define FRAMES_FIRST 64u
#define SENTINELS 3u		/* frames before the first, in no stack */

bool stack_is_base_slow(struct capture_thread *t, uintptr_t sp)
{
	DEBUG_ASSERT(t->lo <= t->hi &&
		     (!t->floor || t->floor == t->lo));	/* I2 */
	if (sp >= t->hi || sp < t->floor || t->hi - sp > BASE_MAX ||
	    t->lo - sp > STEP_MAX)
		return false;
	while (t->lo > sp) {
		uintptr_t next = (t->lo - 1) & ~(uintptr_t)(UNWIND_PAGE - 1);

		if (!unwind_readable(next)) {
			t->floor = t->lo;
			return false;
		}
		t->lo = next;
		DEBUG_ASSERT(next % UNWIND_PAGE == 0 && next < t->hi);
	}
	DEBUG_ASSERT(t->lo <= sp && sp < t->hi);
	return true;
}

static void copy_words(void *to, const void *from, size_t bytes)
{
	uint64_t *t = to;
	const uint64_t *f = from;

	DEBUG_ASSERT(bytes % sizeof(*t) == 0);
	for (bytes /= sizeof(*t); bytes; bytes--)
		*t++ = *f++;
}

size_t stack_bytes(const struct capture_thread *t)
{
	DEBUG_ASSERT(t->capacity <= FRAMES_MAX);
	return sizeof(*t) +
	       t->capacity * (sizeof(*t->frames) + 2 * sizeof(*t->words) +
			      sizeof(*t->scratch));
}

bool stack_grow(struct capture_thread *t)
{
	uint32_t capacity = t->capacity ? t->capacity * 2 : FRAMES_FIRST;
	struct shadow_frame *frames;
	struct shadow_word *words;
	struct frame *scratch;
	uint32_t i;

	if (capacity > FRAMES_MAX)
		return false;
	frames = unwind_alloc(SENTINELS * sizeof(*frames) + capacity *
			      (sizeof(*frames) + 2 * sizeof(*words) +
			       sizeof(*scratch)));
	if (!frames)
		return false;
	for (i = 0; i < SENTINELS; i++)
		frames++->slot = UINTPTR_MAX;
	ASSERT(!(capacity & (capacity - 1)));
	ASSERT(!t->frames == !t->capacity);
	words = (struct shadow_word *)(frames + capacity);
	scratch = (struct frame *)(words + 2 * (size_t)capacity);
	ASSERT((uintptr_t)scratch % _Alignof(struct frame) == 0);
	frames[0].slot = UINTPTR_MAX;
	if (t->frames)
		copy_words(frames, t->frames, t->count * sizeof(*frames));
	copy_words(words, t->words, t->word_count * sizeof(*words));
	copy_words(scratch, t->scratch, t->capacity * sizeof(*scratch));
	t->frames = frames;
	t->words = words;
	t->scratch = scratch;
	ASSERT(t->count <= capacity && t->word_count <= 2 * capacity);
	t->capacity = capacity;
	t->report->stack_bytes = stack_bytes(t);
	return true;
}

bool stack_read_checked(struct stack_reader *r, uintptr_t address,
			uintptr_t *value)
{
	uintptr_t page = address & ~(uintptr_t)(UNWIND_PAGE - 1);

	DEBUG_ASSERT(r->lo <= r->hi && r->page % UNWIND_PAGE == 0);
	if (address & (sizeof(uintptr_t) - 1))
		return false;
	if (page != r->page || page == 0) {
		if (!unwind_readable(address))
			return false;
		r->page = page;
	}
	DEBUG_ASSERT(address >= UNWIND_PAGE && r->page == page);
	*value = *(const uintptr_t *)address;
	return true;
}
