/*
 * controls.c: see controls.h.
 *
 *  I1  The list is in the order of stamps; entries with the same stamp are in
 *      the order of the file.
 *  I2  No START or CLEAR that is not yet applied has a stamp at or below that
 *      of an event that was applied: so a block is foreign exactly if it was
 *      allocated before the view begins.
 *
 * Called by the reader's thread.
 */
#include "cli/model/core/controls.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

const char *const control_words[GT_CONTROL_COUNT] = {
	[GT_CONTROL_START] = "start", [GT_CONTROL_STOP] = "stop",
	[GT_CONTROL_CLEAR] = "clear", [GT_CONTROL_MARKER] = "marker",
	[GT_CONTROL_HEAP] = "heap",
};

#ifdef GNOMON_DEBUG_ASSERTS
bool controls_is_valid(const struct controls *controls)
{
	for (size_t i = 1; i < controls->count; i++)
		if (controls->list[i].stamp < controls->list[i - 1].stamp)
			return false; /* I1 */
	return controls->next <= controls->count &&
	       controls->count <= CONTROLS_MAX;
}
#endif

void controls_add(struct controls *controls, struct intern *names,
		  const struct trace_control *record, uint64_t open)
{
	struct control control = { .stamp = record->stamp,
				   .what = record->what };
	size_t at, first;

	if (record->what < GT_CONTROL_START ||
	    record->what > GT_CONTROL_MARKER)
		return;
	if (controls->count == CONTROLS_MAX) {
		controls->refused++;
		return;
	}
	/* Its events were applied already, as in a damaged trace: I2. */
	if (control.stamp < open && record->what != GT_CONTROL_MARKER)
		control.stamp = open;
	control.name = intern_bytes(names, record->name, record->name_size);
	GROW(controls->list, controls->count, controls->capacity);
	first = controls->count > CONTROLS_LATE ?
		controls->count - CONTROLS_LATE : 0;
	if (first < controls->next)
		first = controls->next;
	for (at = controls->count; at > first &&
	     controls->list[at - 1].stamp > control.stamp; at--)
		controls->list[at] = controls->list[at - 1];
	if (at > 0 && controls->list[at - 1].stamp > control.stamp)
		control.stamp = controls->list[at - 1].stamp;
	DEBUG_ASSERT(at >= controls->next && at <= controls->count); /* I2 */
	controls->list[at] = control;
	controls->count++;
	DEBUG_ASSERT(at + 1 == controls->count ||
		     control.stamp <= controls->list[at + 1].stamp); /* I1 */
	DEBUG_ASSERT((controls->count & (controls->count - 1)) ||
		     controls_is_valid(controls));
}

void controls_free(struct controls *controls)
{
	free(controls->list);
	memset(controls, 0, sizeof(*controls));
}

uint64_t controls_view(const struct controls *controls, uint64_t stamp)
{
	for (size_t i = controls->count; i-- > 0;)
		if (controls->list[i].stamp <= stamp &&
		    control_begins(&controls->list[i]))
			return controls->list[i].stamp;
	return 0;
}
