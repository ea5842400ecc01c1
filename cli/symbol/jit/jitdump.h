/*
 * jitdump.h: what a compiler wrote down for perf about the code that it made
 * at run time: names, source lines, the code itself, and when it came to lie
 * where (Linux, tools/perf/Documentation/jitdump-specification.txt).
 *
 * An address may have meant several functions in its time; here the moment of
 * each is known to the nanosecond.
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
	uint64_t since;		/* jitdump->counter: ticks, else ns of
				 * CLOCK_MONOTONIC */
	uint64_t until;		/* it was moved away; UINT64_MAX */
	uint64_t index;		/* the compiler's number for it */
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
	bool counter;		/* times are the processor's counter */
	struct jitdump_entry *list;	/* by start, once sorted */
	size_t count;
	size_t capacity;
	struct jitdump_line *lines;	/* of a function, by offset */
	size_t line_count;
	size_t line_capacity;
	bool sorted;
	uint64_t bad;		/* records that make no sense */
	uint64_t cut;		/* bytes behind the last whole record */
	struct intern names;
	/* while reading: lines come before the code they are of */
	uint64_t pending_address;
	size_t pending_line, pending_count;
};

/*
 * Reads a file; `path` is copied. 0 or -errno, -EBADMSG if it is no such file.
 * What is damaged is left out and counted. jitdump_free in any case.
 */
int jitdump_open(struct jitdump *dump, const char *path);
void jitdump_free(struct jitdump *dump);

/* The code at an address at a time, in the dump's own measure; NULL: none.
 * What came later counts where there was nothing yet: times of threads and of
 * the compiler differ a little. */
const struct jitdump_entry *jitdump_find(struct jitdump *dump,
					 uint64_t address, uint64_t time);
/* The line at an address in it, or NULL. */
const struct jitdump_line *jitdump_line(const struct jitdump *dump,
					const struct jitdump_entry *entry,
					uint64_t address);
/* Its bytes, to be freed; NULL: they cannot be read. */
uint8_t *jitdump_code(const struct jitdump *dump,
		      const struct jitdump_entry *entry);

/* I1, and the order where it is sorted. With GNOMON_CLAIMS. */
bool jitdump_is_valid(const struct jitdump *dump);

#endif
