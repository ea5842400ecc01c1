/*
 * emit_dump.h: a jitdump, as compilers at run time write it for perf (Linux,
 * tools/perf/Documentation/jitdump-specification.txt), as lines of a map for
 * perf: what lies where, and its name. The writer only.
 */
#ifndef GNOMON_EMIT_DUMP_H
#define GNOMON_EMIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emit_dump {
	char *text;		/* where lines go, and */
	size_t room;		/* bytes there; set by the caller */
	size_t length;		/* of the lines of the last call */
	uint64_t offset;	/* behind the last whole record */
	bool big;		/* its byte order */
	bool refused;		/* it is no such file, or of another process */
};

#define EMIT_DUMP_LINE 512	/* longest line; names are cut */

/*
 * Lines of the records that came since the last call, as long as there is room
 * for one and no more than `records` are read. `size`: of the file. True: there
 * may be more.
 */
bool emit_dump_lines(struct emit_dump *d, int fd, uint64_t size, uint32_t pid,
		     unsigned records);

#endif
