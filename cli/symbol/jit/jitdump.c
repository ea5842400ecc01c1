/*
 * jitdump.c: see jitdump.h.
 *
 *	header: magic, version, its size, machine, -, pid, time, flags
 *	record: id, its size, time, then
 *	  LOAD   pid, tid, vma, address, size, index, name\0, code
 *	  MOVE   pid, tid, vma, old address, new address, size, index
 *	  LINES  address, n, n times {address, line, discriminator, file\0}
 *	  CLOSE, UNWINDING and unknown records: skipped
 *
 * All fields are in the machine's byte order, which the magic shows. The file
 * is not trusted, may have any size, and may still be written: it is read
 * record by record, and code is not copied.
 *
 * V8 adds the size of an ELF header (0x40) to the addresses of lines, as perf
 * once required. If all lines of a function begin after that, it is subtracted.
 *
 *  I1  line offsets of a function ascend.
 *
 * Called by the main thread.
 */
#include "cli/symbol/jit/jitdump.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/base/text/utf8.h"
#include "cli/base/io_full.h"
#include "unwind/base/assertion.h"

#define MAGIC UINT32_C(0x4a695444)
#define HEADER_SIZE 40
#define RECORD_SIZE 16
#define LOAD_SIZE 40
#define MOVE_SIZE 48
#define LINES_SIZE 16
#define LINE_SIZE 16
#define ELF_HEADER 0x40		/* see above */
#define ARCH_TIMESTAMP 1
#define NAME_MAX_SIZE 65536
#define FILE_NAME_MAX 4096
#define FUNCTION_MAX (64u << 20)
#define LINES_MAX (16u << 20)	/* bytes of one LINES record */
#define ENTRIES_MAX (16u << 20)
#define ALL_LINES_MAX (64u << 20)
#define BACK_MAX 100000		/* see perfmap.c */

enum record_id { LOAD, MOVE, LINES, CLOSE, UNWINDING };

struct record {
	uint32_t id;
	uint64_t size;		/* of the record after its head */
	uint64_t time;
	uint64_t offset;	/* of these bytes, in the file */
};

/* ---- numbers ---- */

static uint32_t read32(const struct jitdump *dump, const uint8_t *at)
{
	uint32_t value = (uint32_t)at[0] | (uint32_t)at[1] << 8 |
			 (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;

	return dump->kind.big ? __builtin_bswap32(value) : value;
}

static uint64_t read64(const struct jitdump *dump, const uint8_t *at)
{
	uint64_t first = read32(dump, at), second = read32(dump, at + 4);

	return dump->kind.big ? first << 32 | second : second << 32 | first;
}

static bool read_at(const struct jitdump *dump, uint64_t offset, void *to,
		    size_t size)
{
	return io_full_read_at(dump->fd, to, size, offset) == (ssize_t)size;
}

/* ---- records ---- */

static struct jitdump_entry *add_entry(struct jitdump *dump)
{
	struct jitdump_entry *entry;

	if (dump->count >= ENTRIES_MAX)
		return NULL;
	assert(!dump->sorted);
	GROW(dump->list, dump->count, dump->capacity);
	entry = &dump->list[dump->count];
	memset(entry, 0, sizeof(*entry));
	entry->order = dump->count++;
	entry->until = UINT64_MAX;
	return entry;
}

/* For code without LINES: V8's names end in " FILE:LINE:COLUMN", up to its
 * version 10 in " FILE:LINE". */
static void name_files(struct jitdump *dump, const struct jitdump_entry *entry)
{
	struct jitdump_line *lines = dump->lines + entry->line;
	const char *blank = strchr(entry->name, ' ');
	size_t size = blank ? strlen(blank + 1) : 0;
	bool lined = false;
	const char *file;

	for (int numbers = 0; numbers < 2 && size > 0; numbers++) {
		size_t digits = 0;

		while (digits < size && blank[size - digits] >= '0' &&
		       blank[size - digits] <= '9')
			digits++;
		if (digits == 0 || digits == size ||
		    blank[size - digits] != ':')
			break;
		size -= digits + 1;
		lined = true;
	}
	if (size == 0 || !lined)
		return;
	file = intern_bytes(&dump->names, blank + 1, size);
	for (size_t i = 0; i < entry->line_count; i++)
		if (lines[i].file == NULL)
			lines[i].file = file;
}

static void take_lines_of(struct jitdump *dump, struct jitdump_entry *entry)
{
	if (dump->pending_count == 0 ||
	    dump->pending_address != entry->start)
		return;
	assert(dump->pending_line + dump->pending_count <= dump->line_count);
	entry->line = dump->pending_line;
	entry->line_count = dump->pending_count;
	dump->pending_count = 0;
	name_files(dump, entry);
}

static bool take_load(struct jitdump *dump, const struct record *record)
{
	uint8_t head[LOAD_SIZE];
	struct jitdump_entry *entry;
	uint64_t start, size, names;
	char *name;
	size_t length;

	if (record->size < LOAD_SIZE ||
	    !read_at(dump, record->offset, head, LOAD_SIZE))
		return false;
	start = read64(dump, head + 16);
	size = read64(dump, head + 24);
	if (size == 0 || size > record->size - LOAD_SIZE ||
	    size > UINT64_MAX - start)
		return false;
	names = record->size - LOAD_SIZE - size;
	if (names > NAME_MAX_SIZE)
		names = NAME_MAX_SIZE;
	name = grow_alloc(names + 1);
	if (!read_at(dump, record->offset + LOAD_SIZE, name, names) ||
	    (length = strnlen(name, names)) == names ||
	    (entry = add_entry(dump)) == NULL) {
		free(name);
		return false;
	}
	assert(length < names);
	entry->name = intern_bytes(&dump->names, name, length);
	entry->start = start;
	entry->end = start + size;
	entry->since = record->time;
	entry->index = read64(dump, head + 32);
	entry->code_offset = record->offset + LOAD_SIZE + length + 1;
	take_lines_of(dump, entry);
	free(name);
	return true;
}

/* The last code loaded at that address. */
static size_t find_moved(const struct jitdump *dump, uint64_t start,
			 uint64_t index)
{
	for (size_t i = dump->count; i > 0; i--) {
		const struct jitdump_entry *entry = &dump->list[i - 1];

		if (dump->count - i > BACK_MAX)
			break;
		if (entry->start == start && entry->index == index &&
		    entry->until == UINT64_MAX)
			return i - 1;
	}
	return SIZE_MAX;
}

static bool take_move(struct jitdump *dump, const struct record *record)
{
	uint8_t head[MOVE_SIZE];
	struct jitdump_entry *entry;
	uint64_t start, size;
	size_t old;

	if (record->size < MOVE_SIZE ||
	    !read_at(dump, record->offset, head, MOVE_SIZE))
		return false;
	start = read64(dump, head + 24);
	size = read64(dump, head + 32);
	old = find_moved(dump, read64(dump, head + 16),
			 read64(dump, head + 40));
	if (old == SIZE_MAX || size > UINT64_MAX - start ||
	    (entry = add_entry(dump)) == NULL)
		return false;
	assert(old + 1 < dump->count &&
	       dump->list[old].start <= dump->list[old].end);
	size = dump->list[old].end - dump->list[old].start;
	dump->list[old].until = record->time;
	entry->start = start;
	entry->end = size > UINT64_MAX - start ? UINT64_MAX : start + size;
	entry->since = record->time;
	entry->index = dump->list[old].index;
	entry->code_offset = dump->list[old].code_offset;
	entry->name = dump->list[old].name;
	entry->line = dump->list[old].line;
	entry->line_count = dump->list[old].line_count;
	return true;
}

static int by_offset(const void *a, const void *b)
{
	const struct jitdump_line *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Convert to offsets in the function, ascending (I1). */
static void settle_lines(struct jitdump *dump, uint64_t start)
{
	struct jitdump_line *lines = dump->lines + dump->pending_line;
	uint64_t min = UINT64_MAX;

	for (size_t i = 0; i < dump->pending_count; i++) {
		lines[i].offset -= start;
		if (lines[i].offset < min)
			min = lines[i].offset;
	}
	for (size_t i = 0; i < dump->pending_count && min >= ELF_HEADER; i++)
		lines[i].offset -= ELF_HEADER;
	if (dump->pending_count > 0)
		qsort(lines, dump->pending_count, sizeof(*lines), by_offset);
}

/* For internal scripts V8 writes memory that it has freed instead of a name;
 * there may be a NUL in it. A NUL ends the name. */
static bool is_name(const char *name, size_t length)
{
	for (size_t i = 0, n; i < length; i += n) {
		n = utf8_length(name + i);
		if (n == 0 || (unsigned char)name[i] < ' ' || name[i] == 0x7f)
			return false;
	}
	return length > 0;
}

/* The length up to a NUL that is followed by a line address of this function.
 * `size`: there is none. */
static size_t name_size(const struct jitdump *dump, const char *name,
			size_t size, bool more)
{
	size_t length = strnlen(name, size);

	while (more && length < size && length < FILE_NAME_MAX) {
		const uint8_t *next = (const uint8_t *)name + length + 1;

		if (size - length - 1 < LINE_SIZE ||
		    read64(dump, next) - dump->pending_address < FUNCTION_MAX)
			break;
		length += 1 + strnlen(name + length + 1, size - length - 1);
	}
	return length;
}

static void add_lines(struct jitdump *dump, const uint8_t *at, size_t size,
		      uint64_t count)
{
	const char *file = NULL;

	while (count-- > 0 && size > LINE_SIZE &&
	       dump->line_count < ALL_LINES_MAX) {
		const char *name = (const char *)at + LINE_SIZE;
		size_t length = name_size(dump, name, size - LINE_SIZE,
					  count > 0);

		DEBUG_ASSERT(length <= size - LINE_SIZE);
		if (length == size - LINE_SIZE)
			return;
		/* 0xff: same file as the line before */
		if (length != 1 || name[0] != '\xff')
			file = is_name(name, length) ?
				intern_bytes(&dump->names, name, length) :
				NULL;
		GROW(dump->lines, dump->line_count, dump->line_capacity);
		dump->lines[dump->line_count++] = (struct jitdump_line){
			.offset = read64(dump, at),
			.file = file,
			.line = read32(dump, at + 8),
		};
		dump->pending_count++;
		at += LINE_SIZE + length + 1;
		size -= LINE_SIZE + length + 1;
	}
}

static bool take_lines(struct jitdump *dump, const struct record *record)
{
	uint8_t *bytes;

	dump->pending_count = 0;
	dump->pending_line = dump->line_count;
	if (record->size < LINES_SIZE || record->size > LINES_MAX)
		return false;
	bytes = grow_alloc(record->size);
	if (!read_at(dump, record->offset, bytes, record->size)) {
		free(bytes);
		return false;
	}
	dump->pending_address = read64(dump, bytes);
	add_lines(dump, bytes + LINES_SIZE, record->size - LINES_SIZE,
		  read64(dump, bytes + 8));
	settle_lines(dump, dump->pending_address);
	free(bytes);
	return true;
}

static bool take(struct jitdump *dump, const struct record *record)
{
	switch (record->id) {
	case LOAD:
		return take_load(dump, record);
	case MOVE:
		return take_move(dump, record);
	case LINES:
		return take_lines(dump, record);
	default:
		return true;
	}
}

/* ---- the file ---- */

static void read_records(struct jitdump *dump, uint64_t offset, uint64_t size)
{
	uint8_t head[RECORD_SIZE];
	struct record record;

	while (size - offset >= RECORD_SIZE &&
	       read_at(dump, offset, head, RECORD_SIZE)) {
		uint32_t whole = read32(dump, head + 4);

		record.id = read32(dump, head);
		record.time = read64(dump, head + 8);
		/* The end of a record is known only from its size. */
		if (whole < RECORD_SIZE || whole > size - offset)
			break;
		record.size = whole - RECORD_SIZE;
		record.offset = offset + RECORD_SIZE;
		if (!take(dump, &record))
			dump->bad++;
		offset += whole;
	}
	assert(offset <= size);
	dump->cut = size - offset;
}

static int read_header(struct jitdump *dump, uint64_t *offset)
{
	uint8_t head[HEADER_SIZE];
	uint32_t size;

	if (!read_at(dump, 0, head, HEADER_SIZE))
		return -EBADMSG;
	if (read32(dump, head) != MAGIC) {
		dump->kind.big = true;
		if (read32(dump, head) != MAGIC)
			return -EBADMSG;
	}
	size = read32(dump, head + 8);
	if (read32(dump, head + 4) != 1 || size < HEADER_SIZE)
		return -EBADMSG;
	dump->kind.machine = read32(dump, head + 12);
	dump->kind.wide = true;
	dump->pid = read32(dump, head + 20);
	dump->counter = read64(dump, head + 32) & ARCH_TIMESTAMP;
	*offset = size;
	return 0;
}

int jitdump_open(struct jitdump *dump, const char *path)
{
	struct stat status;
	uint64_t offset;
	int error;

	memset(dump, 0, sizeof(*dump));
	dump->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (dump->fd < 0)
		return -errno;
	dump->path = grow_copy(path, strlen(path));
	if (fstat(dump->fd, &status) != 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EBADMSG;
	error = read_header(dump, &offset);
	if (error == 0 && offset <= (uint64_t)status.st_size)
		read_records(dump, offset, (uint64_t)status.st_size);
	return error;
}

void jitdump_free(struct jitdump *dump)
{
	if (dump->path != NULL)
		close(dump->fd);
	free(dump->path);
	free(dump->list);
	free(dump->lines);
	intern_free(&dump->names);
	memset(dump, 0, sizeof(*dump));
}

/* ---- looking up ---- */

static int by_start(const void *a, const void *b)
{
	const struct jitdump_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

#ifdef GNOMON_DEBUG_ASSERTS
static bool lines_are_valid(const struct jitdump *dump,
			    const struct jitdump_entry *entry)
{
	const struct jitdump_line *lines = dump->lines + entry->line;

	if (entry->line > dump->line_count ||
	    entry->line_count > dump->line_count - entry->line)
		return false;
	for (size_t i = 1; i < entry->line_count; i++)
		if (lines[i - 1].offset > lines[i].offset)
			return false; /* I1 */
	return true;
}

bool jitdump_is_valid(const struct jitdump *dump)
{
	uint64_t reach = 0;

	for (size_t i = 0; i < dump->count; i++) {
		const struct jitdump_entry *entry = &dump->list[i];

		if (reach < entry->end)
			reach = entry->end;
		if (entry->end < entry->start || entry->order >= dump->count ||
		    !lines_are_valid(dump, entry))
			return false;
		if (dump->sorted &&
		    (entry->reach != reach ||
		     (i > 0 && by_start(entry - 1, entry) >= 0)))
			return false;
	}
	return true;
}
#endif

static void sort(struct jitdump *dump)
{
	uint64_t reach = 0;

	assert(!dump->sorted);
	if (dump->count > 0)
		qsort(dump->list, dump->count, sizeof(*dump->list), by_start);
	for (size_t i = 0; i < dump->count; i++) {
		if (dump->list[i].end > reach)
			reach = dump->list[i].end;
		dump->list[i].reach = reach;
	}
	dump->sorted = true;
	DEBUG_ASSERT(jitdump_is_valid(dump));
}

/* Whether `a` is a better match for that time than `b`. */
static bool is_better(const struct jitdump_entry *a,
		      const struct jitdump_entry *b, uint64_t time)
{
	bool a_there = a->since <= time && time < a->until;
	bool b_there = b->since <= time && time < b->until;

	if (a_there != b_there)
		return a_there;
	if ((a->since <= time) != (b->since <= time))
		return a->since <= time;
	if (a->since != b->since)	/* the last before, else the first
					 * after */
		return (a->since <= time) == (a->since > b->since);
	return a->order > b->order;
}

static bool starts_above(const void *list, size_t i, uint64_t address)
{
	return ((const struct jitdump_entry *)list)[i].start > address;
}

const struct jitdump_entry *jitdump_find(struct jitdump *dump,
					 uint64_t address, uint64_t time)
{
	const struct jitdump_entry *best = NULL;
	size_t low;

	if (!dump->sorted)
		sort(dump);
	low = search_first(dump->list, dump->count, starts_above, address);
	for (size_t back = 0; low > 0 && back < BACK_MAX; back++) {
		const struct jitdump_entry *entry = &dump->list[--low];

		if (entry->reach <= address)
			break;
		if (entry->end > address &&
		    (best == NULL || is_better(entry, best, time)))
			best = entry;
	}
	return best;
}

static bool begins_behind(const void *list, size_t i, uint64_t offset)
{
	return ((const struct jitdump_line *)list)[i].offset > offset;
}

const struct jitdump_line *jitdump_line(const struct jitdump *dump,
					const struct jitdump_entry *entry,
					uint64_t address)
{
	const struct jitdump_line *lines = dump->lines + entry->line;
	size_t behind = search_first(lines, entry->line_count, begins_behind,
				     address - entry->start);

	DEBUG_ASSERT(entry->line + entry->line_count <= dump->line_count);
	return behind > 0 ? &lines[behind - 1] : NULL;
}

uint8_t *jitdump_code(const struct jitdump *dump,
		      const struct jitdump_entry *entry)
{
	size_t size = (size_t)(entry->end - entry->start);
	uint8_t *bytes;

	assert(entry->start <= entry->end);
	if (size > LINES_MAX)
		return NULL;
	bytes = grow_alloc(size);
	if (read_at(dump, entry->code_offset, bytes, size))
		return bytes;
	free(bytes);
	return NULL;
}
