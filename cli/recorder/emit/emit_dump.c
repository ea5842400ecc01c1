/*
 * emit_dump.c: reads only the heads of records, with two short reads each, and
 * skips the code between them. The reading side has a full parser in
 * cli/symbol/jit/jitdump.c.
 *
 * A record is read once the file has all of it. An invalid record ends reading
 * for good.
 */
#include "cli/recorder/emit/emit_dump.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EMIT_DUMP_MAGIC 0x4a695444u
#define EMIT_DUMP_HEADER 40
#define EMIT_DUMP_RECORD 16
#define EMIT_DUMP_LOAD 40	/* after the head, up to the name */
#define EMIT_DUMP_MOVE 48
#define EMIT_DUMP_NAME 256

enum { EMIT_DUMP_IS_LOAD, EMIT_DUMP_IS_MOVE };

static bool emit_dump_read(int fd, uint64_t offset, void *to, size_t n)
{
	return pread(fd, to, n, offset) == (long)n;
}

static uint32_t emit_dump_u32(const struct emit_dump *d, const uint8_t *at)
{
	uint32_t little = (uint32_t)at[0] | (uint32_t)at[1] << 8 |
			  (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;

	return d->big ? __builtin_bswap32(little) : little;
}

static uint64_t emit_dump_u64(const struct emit_dump *d, const uint8_t *at)
{
	uint64_t a = emit_dump_u32(d, at), b = emit_dump_u32(d, at + 4);

	return d->big ? a << 32 | b : b << 32 | a;
}

static bool emit_dump_begin(struct emit_dump *d, int fd, uint32_t pid)
{
	uint8_t head[EMIT_DUMP_HEADER];

	if (!emit_dump_read(fd, 0, head, sizeof(head)))
		return false;	/* not yet */
	if (emit_dump_u32(d, head) != EMIT_DUMP_MAGIC)
		d->big = true;
	d->offset = emit_dump_u32(d, head + 8);
	d->refused = emit_dump_u32(d, head) != EMIT_DUMP_MAGIC ||
		     emit_dump_u32(d, head + 4) != 1 ||
		     emit_dump_u32(d, head + 20) != pid ||
		     d->offset < EMIT_DUMP_HEADER;
	return !d->refused;
}

static void emit_dump_line(struct emit_dump *d, uint64_t start, uint64_t size,
			   const char *name)
{
	d->length += snprintf(d->text + d->length, d->room - d->length,
			      "%016" PRIx64 " %016" PRIx64 " %s\n", start,
			      size, name);
	assert(d->length < d->room);
}

static void emit_dump_load(struct emit_dump *d, int fd, uint64_t at,
			   uint64_t size)
{
	char *name, *drain;
	uint8_t bytes[EMIT_DUMP_LOAD + EMIT_DUMP_NAME + 1];
	size_t n = size < sizeof(bytes) - 1 ? size : sizeof(bytes) - 1;

	if (size <= EMIT_DUMP_LOAD || !emit_dump_read(fd, at, bytes, n))
		return;
	bytes[n] = '\0';
	name = (char *)bytes + EMIT_DUMP_LOAD;
	while ((drain = strchr(name, '\n')) != NULL)
		*drain = ' ';
	emit_dump_line(d, emit_dump_u64(d, bytes + 16),
		       emit_dump_u64(d, bytes + 24), name);
}

/* A move record has no name: the name is in the record of the original code. */
static void emit_dump_move(struct emit_dump *d, int fd, uint64_t at,
			   uint64_t size)
{
	uint8_t bytes[EMIT_DUMP_MOVE];

	if (size >= sizeof(bytes) && emit_dump_read(fd, at, bytes,
						    sizeof(bytes)))
		emit_dump_line(d, emit_dump_u64(d, bytes + 24),
			       emit_dump_u64(d, bytes + 32),
			       "code that was moved");
}

bool emit_dump_lines(struct emit_dump *d, int fd, uint64_t size, uint32_t pid,
		     unsigned records)
{
	uint8_t head[EMIT_DUMP_RECORD];

	d->length = 0;
	if (d->refused || (!d->offset && !emit_dump_begin(d, fd, pid)))
		return false;
	for (; records && d->room - d->length > EMIT_DUMP_LINE; records--) {
		uint64_t at = d->offset + sizeof(head);
		uint32_t id, whole;

		if (at > size || !emit_dump_read(fd, d->offset, head,
						 sizeof(head)))
			return false;
		id = emit_dump_u32(d, head);
		whole = emit_dump_u32(d, head + 4);
		d->refused = whole < sizeof(head);
		if (d->refused || whole > size - d->offset)
			return false;
		if (id == EMIT_DUMP_IS_LOAD)
			emit_dump_load(d, fd, at, whole - sizeof(head));
		else if (id == EMIT_DUMP_IS_MOVE)
			emit_dump_move(d, fd, at, whole - sizeof(head));
		d->offset += whole;
	}
	return true;
}
