/* parent_live.c: see parent_live.h. */
#include "cli/recorder/process/parent_live.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/base.h"

/* The part of the header that is read. */
#define PARENT_LIVE_HEAD offsetof(struct gl_header, start_time)

#define PARENT_LIVE_NAP_NS 500000
#define PARENT_LIVE_NAPS 200	/* 0.1 s */

static bool parent_live_bytes(int fd, uint64_t at, void *to, size_t n)
{
	return pread(fd, to, n, at) == (long)n;
}

/* Whether it is a live file with our layout and all data that may be
 * requested. */
static bool parent_live_check(int fd, int32_t *pid)
{
	struct gl_header h;
	order_word at;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    !parent_live_bytes(fd, 0, (void *)&h, PARENT_LIVE_HEAD) ||
	    !parent_live_bytes(fd, offsetof(struct gl_header, shared_offset),
			       &at, sizeof(at)))
		return false;
	h.shared_offset = order_word_get(&at);
	*pid = h.pid;
	/* its recorder may not have started yet (recorder_fill_live) */
	return (h.magic == GL_MAGIC || !h.magic) && h.version == GL_VERSION &&
	       h.header_size == sizeof(h) && h.pid > 0 &&
	       h.shared_offset == base_round_up(sizeof(h), GL_PAGE) &&
	       (uint64_t)st.st_size >= h.shared_offset + GL_SHARED_FIRST;
}

bool parent_live_read(const struct recording *r, size_t offset, void *to,
		      size_t n)
{
	return r->from_parent.fd >= 0 &&
	       parent_live_bytes(r->from_parent.fd,
				 base_round_up(sizeof(struct gl_header),
					       GL_PAGE) + offset, to, n);
}

/* Whether the parent's recorder has not opened its trace yet. */
static bool parent_live_is_starting(const struct recording *r)
{
	order_32 state, tid;

	return parent_live_read(r, offsetof(struct gl_shared, recorder_state),
				(void *)&state, sizeof(state)) &&
	       parent_live_read(r, offsetof(struct gl_shared, recorder_tid),
				(void *)&tid, sizeof(tid)) &&
	       atomic_load_explicit(&state, memory_order_relaxed) ==
		       GL_RECORDER_STARTING &&
	       !(atomic_load_explicit(&tid, memory_order_relaxed) &
		 GL_RECORDER_GONE);
}

/*
 * Finds the parent's trace, if it was not open yet at the fork. A parent that
 * was forked itself just before may still not have opened it: this waits for
 * it, as a trace without a parent counts as one of a new program.
 */
static void parent_live_trace(struct recording *r)
{
	static char path[GT_PATH_MAX];
	const struct timespec nap = { 0, PARENT_LIVE_NAP_NS };
	uint64_t magic = 0;
	bool starting;
	unsigned naps;

	for (naps = 0; !r->parent_trace[0]; naps++) {
		/* read first: if not starting, the path is set or never will
		 * be */
		starting = parent_live_is_starting(r);
		/* magic is written last: then the path is complete */
		if (parent_live_bytes(r->from_parent.fd, 0, &magic,
				      sizeof(magic)) &&
		    parent_live_bytes(r->from_parent.fd,
				      offsetof(struct gl_header, trace_path),
				      path, sizeof(path)) &&
		    (!starting || magic) && path[0] == '/' &&
		    memchr(path, '\0', sizeof(path)))
			r->parent_trace = path;
		else if (starting && naps < PARENT_LIVE_NAPS)
			nanosleep(&nap, NULL);
		else
			break;
	}
}

void parent_live_begin(struct recording *r)
{
	if (r->from_parent.fd < 0)
		return;
	if (parent_live_check(r->from_parent.fd, &r->from_parent.pid)) {
		parent_live_trace(r);
		return;
	}
	close(r->from_parent.fd);
	r->from_parent.fd = -1;
}
