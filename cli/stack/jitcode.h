/*
 * jitcode.h: code that the program made at run time, as its compiler's dumps
 * tell it (cli/symbol/jit/jitdump.h): from a node of a model to a function. The
 * map for perf, which travels in the trace, is the model's perfmap.
 */
#ifndef GNOMON_JITCODE_H
#define GNOMON_JITCODE_H

#include "cli/model/model.h"
#include "cli/symbol/files/debugfile.h"
#include "cli/symbol/jit/jitdump.h"

struct jitcode {
	const struct model *model;
	struct jitdump *dumps;
	size_t count;
	/* By node: the stamp of the first allocation at or inside of it, which
	 * is when it was made. */
	uint64_t *made;
};

/*
 * Opens the dumps that the program had mapped, where they were (under the
 * sysroot) or where -d says, and those that -d names. Says which of them are
 * missing or of no use.
 */
void jitcode_open(struct jitcode *code, const struct model *model,
		  const struct debugfile_places *places);
void jitcode_free(struct jitcode *code);

/* The code at an address when the node was made; NULL: not known. *dump is
 * where it is from. */
const struct jitdump_entry *jitcode_find(struct jitcode *code, uint32_t node,
					 uint64_t address,
					 const struct jitdump **dump);

#endif
