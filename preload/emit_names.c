/*
 * emit_names.c: the map that compilers at run time write for perf (Linux,
 * tools/perf/Documentation/jit-interface.txt), into NAMES chunks. It names
 * addresses of this one process, and nobody keeps it: so it goes with the
 * trace.
 *
 * /tmp is everybody's: the file counts only if it is a plain one, of our own
 * user, and no older than the recording (an earlier process may have had the
 * same number).
 *
 * I1: pieces end where lines do.
 */
#include "preload/emit_names.h"

#include <string.h>

#include "preload/area.h"
#include "preload/sys.h"
#include "preload/text.h"
#include "preload/varint.h"

#define EMIT_NAMES_PIECE (256u << 10)	/* a chunk's; fits WRITER_ROOM */
#define EMIT_NAMES_MAX (UINT64_C(64) << 20)	/* some 800 000 functions */
#define EMIT_NAMES_SLACK_NS 20000000	/* a file's clock ticks less often */

struct emit_names {
	struct chunk_out *out;
	struct compress *compress;
	struct compress_past past;
	char *text;
	size_t held;		/* bytes in it */
	bool torn;		/* they begin inside a line */
};

static long emit_names_open(int pid, uint64_t since_ns, uint64_t *size)
{
	char path[64];
	struct text text;
	struct stat st;
	long fd;

	text_init(&text, path, sizeof(path));
	text_put(&text, "/tmp/perf-");
	text_number(&text, pid);
	text_put(&text, ".map");
	fd = sys_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				    O_CLOEXEC, 0);
	if (sys_failed(fd))
		return -1;
	if (sys_fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == (uid_t)arch_syscall0(__NR_geteuid) &&
	    st.st_mtim.tv_sec * (uint64_t)SYS_NS + st.st_mtim.tv_nsec +
			    EMIT_NAMES_SLACK_NS >= since_ns) {
		*size = st.st_size;
		return fd;
	}
	sys_close(fd);
	return -1;
}

static void emit_names_fill(struct emit_names *e, int fd)
{
	while (e->held < EMIT_NAMES_PIECE) {
		long n = sys_read(fd, e->text + e->held,
				  EMIT_NAMES_PIECE - e->held);

		if (n <= 0)	/* signals are blocked; else that is all */
			return;
		e->held += n;
	}
}

/* Writes the whole lines held; returns how many bytes of others went. */
static size_t emit_names_piece(struct emit_names *e)
{
	uint64_t lines = 0;
	size_t from = 0, to = 0, i, dropped;
	uint8_t *end;

	for (i = 0; i < e->held; i++) {
		if (e->text[i] != '\n')
			continue;
		if (e->torn)
			from = i + 1;
		else
			lines++;
		e->torn = false;
		to = i + 1;
	}
	dropped = from;
	if (lines) {
		end = varint_put(chunk_payload(e->out), lines);
		end = compress_column(e->compress, &e->past, end,
				      (uint8_t *)e->text + from, to - from);
		chunk_write(e->out, GT_NAMES, end, NULL);
	}
	/* a line longer than all of it */
	if (to == 0) {
		e->torn = true;
		dropped = to = e->held;
	}
	memmove(e->text, e->text + to, e->held - to);
	e->held -= to;
	return dropped;
}

uint64_t emit_names(struct chunk_out *out, struct compress *compress, int pid,
		    uint64_t since_ns)
{
	struct emit_names e = { .out = out, .compress = compress };
	uint64_t size = 0, taken = 0, dropped = 0;
	long fd = emit_names_open(pid, since_ns, &size);

	if (fd < 0)
		return 0;
	e.text = area_alloc(EMIT_NAMES_PIECE);
	while (e.text && !out->err && taken < EMIT_NAMES_MAX) {
		size_t before = e.held;

		emit_names_fill(&e, fd);
		if (e.held == before)
			break;
		taken += e.held - before;
		dropped += emit_names_piece(&e);
	}
	sys_close(fd);
	return dropped + e.held + (size > taken ? size - taken : 0);
}
