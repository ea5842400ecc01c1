/*
 * jitcode.h: finds the function of a node in JIT-compiled code, from the jitdump
 * files that the program's JIT compiler wrote (cli/symbol/jit/jitdump.h). A perf
 * map is in the trace itself; the model has it (perfmap.h).
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
	/* By node: the stamp of the first allocation in it, or in a frame that
	 * it called. Its code existed then. */
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

/* The code that was at this address at the node's first allocation; NULL: not
 * known. *dump: the file that describes it. */
const struct jitdump_entry *jitcode_find(struct jitcode *code, uint32_t node,
					 uint64_t address,
					 const struct jitdump **dump);

#endif
