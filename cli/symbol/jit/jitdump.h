/*
 * jitdump.h: reads jitdump files, which JIT compilers write for perf: names,
 * source lines, bytes and load times of generated code (Linux,
 * tools/perf/Documentation/jitdump-specification.txt).
 *
 * An address may belong to several functions over time; times are known to the
 * nanosecond.
 */
#ifndef GNOMON_JITDUMP_H
#define GNOMON_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/intern.h"
#include "cli/symbol/elf/elf_kind.h"

struct jitdump_line {
	uint64_t offset;	/* in the function */
	const char *file;
	unsigned line;
};

struct jitdump_entry {
	uint64_t start, end;
	uint64_t reach;		/* highest end of all up to this one */
	uint64_t since;		/* ticks if jitdump->counter, else ns of
				 * CLOCK_MONOTONIC */
	uint64_t until;		/* time of its move; UINT64_MAX: none */
	uint64_t index;		/* the compiler's number of it */
	uint64_t code_offset;	/* of its bytes in the file */
	size_t order;		/* in the file */
	const char *name;
	size_t line, line_count;	/* in jitdump->lines */
};

/* A zeroed one is empty. */
struct jitdump {
	int fd;
	char *path;
	struct elf_kind kind;
	uint32_t pid;
	bool counter;		/* times are ticks of the processor's counter */
	struct jitdump_entry *list;	/* by start, once sorted */
	size_t count;
	size_t capacity;
	struct jitdump_line *lines;	/* of a function, by offset */
	size_t line_count;
	size_t line_capacity;
	bool sorted;
	uint64_t bad;		/* invalid records */
	uint64_t cut;		/* bytes after the last whole record */
	struct intern names;
	/* while reading: lines come before their code */
	uint64_t pending_address;
	size_t pending_line, pending_count;
};

/*
 * Reads a file; `path` is copied. 0 or -errno, -EBADMSG: not a jitdump file.
 * Damaged records are skipped and counted. Call jitdump_free in any case.
 */
int jitdump_open(struct jitdump *dump, const char *path);
void jitdump_free(struct jitdump *dump);

/* The code at an address at a time, in the dump's unit of time; NULL: none. If
 * none was loaded yet, later code counts: clocks of thread and compiler differ
 * a little. */
const struct jitdump_entry *jitdump_find(struct jitdump *dump,
					 uint64_t address, uint64_t time);
/* The line at an address in the entry, or NULL. */
const struct jitdump_line *jitdump_line(const struct jitdump *dump,
					const struct jitdump_entry *entry,
					uint64_t address);
/* The entry's bytes; the caller frees them. NULL: they cannot be read. */
uint8_t *jitdump_code(const struct jitdump *dump,
		      const struct jitdump_entry *entry);

/* Checks I1, and the order if sorted. With GNOMON_DEBUG_ASSERTS. */
bool jitdump_is_valid(const struct jitdump *dump);

#endif
