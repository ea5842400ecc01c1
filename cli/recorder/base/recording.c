/*
 * recording.c: see recording.h.
 *
 * TRUST. The target may write to the live mapping at any moment, on purpose or
 * by a wild pointer. So data from the mapping is read once, copied and checked
 * before use:
 *
 *	layout			live.shape: a copy, checked at the start
 *	rings, their data	recording.given: the recorder's own choice
 *	tails, limits, counts	the recorder's own; only written there
 *	heads			at a scan, against tail and size (ring_drain.c)
 *	records			within [tail, head); kinds and lengths as they
 *				are read (encode.c, event_merge.c)
 *	nodes, images		copied, then linked to what is in the trace
 *				(emit_node.c, emit_image.c)
 *	requests		copied, and limited to a list of calls
 *				(requests.c)
 *	all other data		numbers and flags that may have any value
 *
 * Impossible values are damage. A page that is missing, as the file was
 * truncated, reads as zeros from then on and is damage too (lost_page.c).
 */
#include "cli/recorder/base/recording.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "arch.h"
#include "cli/recorder/base/zeroed.h"

#define RECORDING_WORDS 128	/* longest description of damage, in bytes */

struct options *recording_options;
uint32_t recording_machine = ARCH_ELF_MACHINE;

int recording_init(struct recording *r)
{
	r->given = zeroed_alloc(GL_RINGS_MAX * sizeof(*r->given));
	return r->given ? 0 : -ENOMEM;
}

void recording_damage(struct recording *r, const char *what)
{
	char *to = r->message;

	assert(strlen(what) <= RECORDING_WORDS);
	if (r->damage)
		return;
	r->damage = what;
	to = stpcpy(to, "the memory that the program shares with its recorder "
			"is damaged (");
	to = stpcpy(to, what);
	stpcpy(to, "): recording has stopped, the trace so far stays readable");
}
