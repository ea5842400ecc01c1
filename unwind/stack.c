/*
 * stack.c: proving what can be read.
 *
 * The base stack's outer end is given (the main thread) or is the thread
 * pointer: the C library puts its thread block at the outer end of a stack it
 * allocates. If that does not hold, the proof fails at some page and the
 * stack counts as foreign, which is slower but safe.
 *
 * I1  Every page that overlaps [lo, hi) could be read when lo got there.
 * I2  floor is 0 or the lowest address that a failed proof leaves possible;
 *     an sp below it is foreign without another try.
 *
 * Thread context: the thread that owns the state.
 */
#include "unwind/stack.h"

#define BASE_MAX (UINT64_C(1) << 30)	/* a stack is no larger than 1 GiB … */
#define STEP_MAX (64u << 20)		/* … and grows by at most this at once */
#define FRAMES_MAX (1u << 20)

bool stack_is_base_slow(struct capture_thread *t, uintptr_t sp)
{
	if (sp >= t->hi || sp < t->floor || t->hi - sp > BASE_MAX ||
	    t->lo - sp > STEP_MAX)
		return false;
	while (t->lo > sp) {
		uintptr_t next = (t->lo - 1) & ~(uintptr_t)(STACK_PAGE - 1);

		if (!unwind_readable(next)) {
			t->floor = t->lo;
			return false;
		}
		t->lo = next;
	}
	return true;
}

bool stack_grow(struct capture_thread *t)
{
	uint32_t capacity = t->capacity ? t->capacity * 2 : 128, i;
	struct frame *frames, *scratch;

	if (capacity > FRAMES_MAX)
		return false;
	frames = unwind_alloc(2 * (uint64_t)capacity * sizeof(*frames));
	if (!frames)
		return false;
	scratch = frames + capacity;
	for (i = 0; i < t->count; i++)
		frames[i] = t->frames[i];
	for (i = 0; i < t->capacity; i++)
		scratch[i] = t->scratch[i];
	t->frames = frames;
	t->scratch = scratch;
	t->capacity = capacity;
	return true;
}

bool stack_read_checked(struct stack_reader *r, uintptr_t address,
			uintptr_t *value)
{
	uintptr_t page = address & ~(uintptr_t)(STACK_PAGE - 1);

	if (address & (sizeof(uintptr_t) - 1))
		return false;
	if (page != r->page || page == 0) {
		if (!unwind_readable(address))
			return false;
		r->page = page;
	}
	*value = *(const uintptr_t *)address;
	return true;
}
