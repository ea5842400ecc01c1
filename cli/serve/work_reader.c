/*
 * work_reader.c: see work_reader.h.
 */
#include "cli/serve/work_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/serve/progress_board.h"

#define FIRST_FREE 3		/* after the three standard descriptors */

static void close_from(int first)
{
	long max = sysconf(_SC_OPEN_MAX);

#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0u, 0) == 0)
		return;
#endif
	for (int fd = first; fd < max; fd++)
		close(fd);
}

/* Close the front's descriptors, above all its connections. */
static _Noreturn void become_reader(const struct work *work, int socket,
				    const struct work_reader *reader)
{
	struct trace_reader_setup setup = {
		.trace = reader->trace == NULL ? NULL : reader->trace->path,
		.limits = &work->limits, .slot = reader->slot,
		.words = (char **)work->common->list,
		.count = work->common->count,
	};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	signal(SIGPIPE, SIG_DFL);
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
	    dup2(nothing, STDOUT_FILENO) < 0 || dup2(reader->said, STDERR_FILENO) < 0 ||
	    dup2(socket, FIRST_FREE) < 0)
		_exit(1);
	close_from(FIRST_FREE + 1);
	trace_reader_serve(FIRST_FREE, &setup);
}

static void hear(struct event_source *source, uint32_t events)
{
	struct work_reader *reader = (struct work_reader *)source;
	int files[READER_FILES];
	struct trace_reader_packet packet;

	(void)events;
	if (trace_reader_receive(source->fd, &packet, files) == 0)
		work_subscribe(reader, &packet);
	else
		work_subscribe(reader, NULL);
}

static struct work_reader *add_reader(struct work *work, struct served *trace)
{
	struct work_reader *reader = grow_zeroed(1, sizeof(*reader));

	reader->work = work;
	reader->trace = trace;
	if (trace != NULL) {
		reader->generation = trace->generation;
		trace->users++;
	}
	reader->begun_ms = event_loop_now_ms();
	reader->slot = progress_board_take();
	reader->said = memfd_create("said", MFD_CLOEXEC);
	reader->source = (struct event_source){ -1, hear };
	reader->next = work->readers;
	work->readers = reader;
	work->reader_count++;
	return reader;
}

struct work_reader *work_reader_start(struct work *work, struct served *trace)
{
	struct work_reader *reader = add_reader(work, trace);
	int pair[2], error;

	if (reader->said < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET |
					   SOCK_CLOEXEC, 0, pair) != 0)
		goto fail;
	reader->source.fd = pair[0];
	reader->pid = fork();
	if (reader->pid == 0)
		become_reader(work, pair[1], reader);
	error = errno;
	close(pair[1]);
	errno = error;
	if (reader->pid > 0 &&
	    event_loop_add(work->loop, &reader->source, EPOLLIN) == 0)
		return reader;
fail:
	error = errno;
	work_reader_end(reader);
	errno = error;
	return NULL;
}

static bool is_current(const struct work_reader *reader)
{
	return reader->trace == NULL ||
		reader->generation == reader->trace->generation;
}

struct work_reader *work_reader_find(struct work *work, struct served *trace)
{
	for (struct work_reader **at = &work->readers; *at != NULL;
	     at = &(*at)->next) {
		struct work_reader *found = *at;

		if (found->trace != trace || !is_current(found))
			continue;
		*at = found->next;
		found->next = work->readers;
		work->readers = found;
		return found;
	}
	return NULL;
}

unsigned work_reader_reading(const struct work *work)
{
	unsigned count = 0;

	for (const struct work_reader *reader = work->readers; reader != NULL;
	     reader = reader->next)
		count += !reader->ready;
	return count;
}

void work_reader_end(struct work_reader *reader)
{
	struct work *work = reader->work;
	struct work_reader **at = &work->readers;

	while (*at != reader)
		at = &(*at)->next;
	*at = reader->next;
	work->reader_count--;
	if (reader->source.fd >= 0) {
		event_loop_remove(work->loop, &reader->source);
		close(reader->source.fd);
	}
	if (reader->pid > 0)
		kill(reader->pid, SIGKILL);	/* it may be reading */
	if (reader->said >= 0)
		close(reader->said);
	if (reader->trace != NULL)
		reader->trace->users--;
	progress_board_give(reader->slot);
	free(reader);
}

void work_reader_reap(struct work *work)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (struct work_reader *reader = work->readers; reader != NULL;
		     reader = reader->next)
			if (reader->pid == pid)
				reader->pid = 0;
}

void work_reader_retire(struct work *work)
{
	struct work_reader *reader = work->readers, *next;
	unsigned idle = 0;

	for (; reader != NULL; reader = next) {
		next = reader->next;
		if (reader->jobs == 0 && reader->ready &&
		    (!is_current(reader) || ++idle > WORK_READERS_IDLE))
			work_reader_end(reader);
	}
}
