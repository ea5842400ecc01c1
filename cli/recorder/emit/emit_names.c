/*
 * emit_names.c: copies the map that JIT compilers write for perf (Linux,
 * tools/perf/Documentation/jit-interface.txt) to NAMES chunks. The map is only
 * valid for this process and is not kept, so the trace includes it.
 *
 * All users can write to /tmp: the file is used only if it is a regular file of
 * our own user. It must also not be older than the recording, as an earlier
 * process may have had the same pid.
 *
 * EPOCHS. An address may belong to several functions over time. A chunk has the
 * number of nodes in the context tree when its lines had been read: the names
 * apply to later nodes with such addresses. So new code needs new nodes: if a
 * line covers addresses of an earlier line (code_map.h), hooks make the tree
 * forget the nodes there (replaced_code.h). From when the program writes a line
 * to the first event after our next check, some milliseconds, events still get
 * the older name.
 *
 * I1: pieces end where lines do.
 */
#include "cli/recorder/emit/emit_names.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/base/zeroed.h"
#include "cli/recorder/emit/replaced_report.h"
#include "cli/recorder/emit/varint.h"
#include "unwind/base/assertion.h"

#define EMIT_NAMES_PIECE (256u << 10)	/* of one chunk; fits RECORDER_ROOM */
#define EMIT_NAMES_MAX (UINT64_C(64) << 20)	/* some 800 000 functions */
#define EMIT_NAMES_SLACK_NS 20000000	/* file times have a coarser clock */
/* interval without a file */
#define EMIT_NAMES_RARE_NS (100 * UINT64_C(1000000))
#define EMIT_NAMES_OFTEN_NS (10 * UINT64_C(1000000))
#define EMIT_NAMES_RECORDS 2000	/* of a jitdump, per check: 2 ms */
#define EMIT_NAMES_LAST 500	/* checks at the end, which others wait for */
/* Forgetting reads all nodes, 1 ns each; this keeps it below 1 % of a core. */
#define EMIT_NAMES_NODE_NS 100

void emit_names_init(struct emit_names *e, struct chunk_out *out,
		     struct compress *compress,
		     const order_32 *node_count,
		     struct gl_shared *shared, int pid,
		     uint64_t since_ns)
{
	*e = (struct emit_names){
		.out = out,
		.compress = compress,
		.node_count = node_count,
		.shared = shared,
		.pid = pid,
		.since_ns = since_ns,
	};
}

/* Opens a file if it is of our own user and no older than the recording. */
static long emit_names_open(const struct emit_names *e, const char *path,
			    struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				    O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) &&
	    st->st_uid == geteuid() &&
	    st->st_mtim.tv_sec * (uint64_t)TIME_NS_SECOND +
			    st->st_mtim.tv_nsec + EMIT_NAMES_SLACK_NS >=
			    e->since_ns)
		return fd;
	close(fd);
	return -1;
}

static void emit_names_fill(struct emit_names *e, int fd)
{
	while (e->held < EMIT_NAMES_PIECE) {
		long n = pread(fd, e->text + e->held,
			       EMIT_NAMES_PIECE - e->held, e->offset);

		if (n <= 0)	/* end of file: signals are blocked */
			return;
		e->held += n;
		e->offset += n;
		e->taken += n;
		DEBUG_ASSERT(e->held <= EMIT_NAMES_PIECE);
	}
}

/* Parses a hexadecimal number at *at, and moves *at past it and a blank. */
static bool emit_names_hex(const char **at, const char *end, uint64_t *value)
{
	const char *p = *at;

	*value = 0;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x')
		p += 2;
	for (; p < end && *p != ' '; p++) {
		unsigned c = (unsigned char)*p, low = c | 32;

		if (*value >> 60)
			return false;
		if (c - '0' <= 9)
			*value = *value << 4 | (c - '0');
		else if (low - 'a' <= 5)
			*value = *value << 4 | (low - 'a' + 10);
		else
			return false;
	}
	*at = p + 1;
	return p < end;
}

static void emit_names_replaced(struct emit_names *e, uint64_t start,
				uint64_t end)
{
	unsigned last = EMIT_NAMES_RANGES - 1;

	DEBUG_ASSERT(start < end && e->replaced_count <= EMIT_NAMES_RANGES);
	if (e->replaced_count <= last) {
		e->replaced[e->replaced_count].start = start;
		e->replaced[e->replaced_count++].end = end;
		return;
	}
	/* forgetting too much only creates some nodes again */
	if (start < e->replaced[last].start)
		e->replaced[last].start = start;
	if (end > e->replaced[last].end)
		e->replaced[last].end = end;
}

static void emit_names_line(struct emit_names *e, const char *at,
			    const char *end)
{
	uint64_t start, size;

	if (e->code && emit_names_hex(&at, end, &start) &&
	    emit_names_hex(&at, end, &size) && size &&
	    size < UINT64_MAX - start &&
	    code_map_enter(e->code, start, size))
		emit_names_replaced(e, start, start + size);
}

/* Writes the complete lines held; counts the bytes of dropped lines. */
static void emit_names_piece(struct emit_names *e)
{
	uint64_t lines = 0, from = 0, to = 0, i;
	uint8_t *end;

	for (i = 0; i < e->held; i++) {
		if (e->text[i] != '\n')
			continue;
		if (e->torn) {
			from = i + 1;
		} else {
			emit_names_line(e, e->text + to, e->text + i);
			lines++;
		}
		e->torn = false;
		to = i + 1;
	}
	e->dropped += from;
	if (lines) {
		end = varint_put(chunk_payload(e->out), lines);
		end = compress_column(e->compress, &e->past, end,
				      (uint8_t *)e->text + from, to - from);
		end = varint_put(end, atomic_load_explicit(
					      e->node_count,
					      memory_order_acquire));
		chunk_write(e->out, GT_NAMES, end, NULL);
	}
	/* a line longer than the buffer */
	if (to == 0 && e->held == EMIT_NAMES_PIECE) {
		e->torn = true;
		to = e->held;
		e->dropped += to;
	}
	DEBUG_ASSERT(from <= to && to <= e->held);
	memmove(e->text, e->text + to, e->held - to);
	e->held -= to;
}

static long emit_names_open_map(const struct emit_names *e, struct stat *st)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", e->pid);
	return emit_names_open(e, path, st);
}

static void emit_names_memory(struct emit_names *e)
{
	if (e->text)
		return;
	e->text = zeroed_alloc(EMIT_NAMES_PIECE);
	e->code = zeroed_alloc(sizeof(*e->code));
}

/* Starts again if it is another file than at the last check, or was
 * truncated. */
static void emit_names_begin(struct emit_names *e, const struct stat *st)
{
	emit_names_memory(e);
	if (st->st_dev == e->device && st->st_ino == e->inode &&
	    (uint64_t)st->st_size >= e->offset)
		return;
	e->dropped += e->held;
	e->device = st->st_dev;
	e->inode = st->st_ino;
	e->offset = e->held = 0;
	e->torn = false;
}

static void emit_names_take(struct emit_names *e, int fd)
{
	while (e->text && !e->out->err && e->taken < EMIT_NAMES_MAX) {
		uint64_t before = e->taken;

		emit_names_fill(e, fd);
		if (e->taken == before)
			break;
		emit_names_piece(e);
	}
}

/* Reads the map. Whether there is or was one. */
static bool emit_names_map(struct emit_names *e, bool last)
{
	struct stat st;
	long fd = emit_names_open_map(e, &st);

	if (fd < 0)
		return e->inode;
	emit_names_begin(e, &st);
	emit_names_take(e, fd);
	if (last)
		e->dropped += (uint64_t)st.st_size > e->offset ?
				      st.st_size - e->offset : 0;
	close(fd);
	return true;
}

static bool emit_names_dump(struct emit_names *e, const char *path, bool last)
{
	struct stat st;
	unsigned looks = last ? EMIT_NAMES_LAST : 1;
	bool more = true;
	long fd = emit_names_open(e, path, &st);

	if (fd < 0)
		return false;
	emit_names_memory(e);
	while (more && looks-- && e->text && !e->out->err &&
	       e->taken < EMIT_NAMES_MAX) {
		e->dump.text = e->text;
		e->dump.room = EMIT_NAMES_PIECE;
		more = emit_dump_lines(&e->dump, fd, st.st_size, e->pid,
				       EMIT_NAMES_RECORDS);
		e->held = e->dump.length;
		e->taken += e->dump.length;
		emit_names_piece(e);
	}
	close(fd);
	return true;
}

/* Makes hooks forget replaced code; ranges without room wait for the next
 * check. Returns how many ranges were passed on. */
static unsigned emit_names_forget(struct emit_names *e)
{
	unsigned reported = 0, i;

	while (reported < e->replaced_count &&
	       replaced_report(e->shared, e->replaced[reported].start,
			       e->replaced[reported].end))
		reported++;
	for (i = reported; i < e->replaced_count; i++)
		e->replaced[i - reported] = e->replaced[i];
	DEBUG_ASSERT(reported <= e->replaced_count);
	e->replaced_count -= reported;
	/* also for ranges that no thread has read since the last check */
	replaced_request(e->shared);
	return reported;
}

void emit_names_poll(struct emit_names *e, const char *dump, uint64_t now_ns,
		     bool last)
{
	uint64_t pause_ns;
	unsigned reported;

	if (now_ns < e->next_ns && !last)
		return;
	e->next_ns = now_ns + EMIT_NAMES_RARE_NS;
	/* A program that writes both a map and a jitdump writes the same
	 * names. */
	if (!emit_names_map(e, last) &&
	    (!dump[0] || !emit_names_dump(e, dump, last)))
		return;
	reported = emit_names_forget(e);
	pause_ns = reported * EMIT_NAMES_NODE_NS *
		   (uint64_t)atomic_load_explicit(e->node_count,
						  memory_order_relaxed);
	e->next_ns = now_ns + base_max(EMIT_NAMES_OFTEN_NS, pause_ns);
}

uint64_t emit_names_skipped(const struct emit_names *e)
{
	return e->dropped + e->held;
}

void emit_names_again(struct emit_names *e)
{
	e->offset = e->held = e->taken = 0;
	e->torn = false;
}
