/*
 * register_frame.c: handles registrations before the real function gets them. A
 * new table is known here before its code can run; a deregistered one is
 * dropped before its memory can be freed.
 *
 * The real function is looked up each time: its library (libgcc_s, libunwind)
 * may be loaded late, and unloaded.
 */
#include "preload/interpose/register_frame.h"

#include <stdbool.h>
#include <stddef.h>

#include "preload/interpose/real.h"
#include "unwind/image/jit.h"

#define REGISTER_FRAME_TABLE_MAX 65536	/* sections in a list of them */

static const struct {
	const char *name;
	unsigned how;	/* enum register_frame_how */
} register_frame_rows[] = {
#define REGISTERS(name, how) { #name, how },
#include "preload/interpose/hooked.def"
};

/* An array of sections, ended by NULL. */
static void register_frame_list(struct jit_tables *tables)
{
	const uintptr_t *list = (const uintptr_t *)tables->key;
	size_t i;

	for (i = 0; i < REGISTER_FRAME_TABLE_MAX &&
		    jit_readable((uintptr_t)&list[i], sizeof(*list)) &&
		    list[i]; i++) {
		tables->frames = list[i];
		jit_register(tables);
	}
}

/* An empty section is no error: the C runtime's own start-up code has one. */
static bool register_frame_is_empty(uintptr_t begin)
{
	return !begin || (!(begin & 3) &&
			  jit_readable(begin & ~(uintptr_t)7, 8) &&
			  *(const uint32_t *)begin == 0);
}

void *register_frame_note(uintptr_t begin, unsigned which,
			  uintptr_t text, uintptr_t data)
{
	struct jit_tables tables = { .key = begin, .frames = begin };
	unsigned how = register_frame_rows[which].how;

	DEBUG_ASSERT(which <
		     sizeof(register_frame_rows) /
			     sizeof(*register_frame_rows));
	if (how & REGISTER_FRAME_BASES) {
		tables.text = text;
		tables.data = data;
	}
	if (how & REGISTER_FRAME_DROP)
		jit_deregister(begin);
	else if (how & REGISTER_FRAME_LIST)
		register_frame_list(&tables);
	else if (!register_frame_is_empty(begin))
		jit_register(&tables);
	return real_function(register_frame_rows[which].name);
}
