/*
 * jitcode.h: JIT code: finds the function of a node in the jitdump files of the
 * program's compiler (cli/symbol/jit/jitdump.h). The perf map, which is in the
 * trace, is the model's perfmap.
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
	/* By node: the stamp of the first allocation in it or in a frame that
	 * it called: when the node was made. */
	uint64_t *made;
};

/*
 * Opens the jitdump files that the program had mapped, at their path (under the
 * sysroot) or where -d points, and those named by -d. Notes which of them are
 * missing or unusable.
 */
void jitcode_open(struct jitcode *code, const struct model *model,
		  const struct debugfile_places *places);
void jitcode_free(struct jitcode *code);

/* The code at an address when the node was made; NULL: not known. *dump is its
 * file. */
const struct jitdump_entry *jitcode_find(struct jitcode *code, uint32_t node,
					 uint64_t address,
					 const struct jitdump **dump);

#endif
