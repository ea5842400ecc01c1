/*
 * emit_dump.h: converts a jitdump, which JIT compilers write for perf (Linux,
 * tools/perf/Documentation/jitdump-specification.txt), to lines of a perf map:
 * address, size and name. The recorder only.
 */
#ifndef GNOMON_EMIT_DUMP_H
#define GNOMON_EMIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emit_dump {
	char *text;		/* output, and */
	size_t room;		/* its size; set by the caller */
	size_t length;		/* bytes of the last call's lines */
	uint64_t offset;	/* after the last complete record */
	bool big;		/* its byte order */
	bool refused;		/* not a jitdump, or of another process */
};

#define EMIT_DUMP_LINE 512	/* longest line; names are cut */

/*
 * Converts records added since the last call, at most `records`, and while
 * there is room for a line. `size`: of the file. True: there may be more.
 */
bool emit_dump_lines(struct emit_dump *d, int fd, uint64_t size, uint32_t pid,
		     unsigned records);

#endif
