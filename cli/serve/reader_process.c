/*
 * reader_process.c: see reader_process.h.
 */
#include "cli/serve/reader_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/close_from.h"
#include "cli/base/grow.h"
#include "cli/serve/progress_board.h"

#define FIRST_FREE 3		/* after the three standard descriptors */

/* Close the front's descriptors, above all its connections. */
static _Noreturn void become_reader(const struct job_queue *queue, int socket,
				    const struct reader_process *reader)
{
	struct trace_reader_setup setup = {
		.trace = reader->trace == NULL ? NULL : reader->trace->path,
		.limits = &queue->limits, .slot = reader->slot,
		.words = (char **)queue->common->list,
		.count = queue->common->count,
	};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	signal(SIGPIPE, SIG_DFL);
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
	    dup2(nothing, STDOUT_FILENO) < 0 ||
	    dup2(reader->said, STDERR_FILENO) < 0 ||
	    dup2(socket, FIRST_FREE) < 0)
		_exit(1);
	close_from(FIRST_FREE + 1);
	trace_reader_serve(FIRST_FREE, &setup);
}

static void hear(struct event_source *source, uint32_t events)
{
	struct reader_process *reader = (struct reader_process *)source;
	int files[READER_FILES];
	struct trace_reader_packet packet;

	(void)events;
	if (trace_reader_receive(source->fd, &packet, files) == 0)
		job_queue_subscribe(reader, &packet);
	else
		job_queue_subscribe(reader, NULL);
}

static struct reader_process *add_reader(struct job_queue *queue,
					 struct served *trace)
{
	struct reader_process *reader = grow_zeroed(1, sizeof(*reader));

	reader->queue = queue;
	reader->trace = trace;
	if (trace != NULL) {
		reader->generation = trace->generation;
		trace->users++;
	}
	reader->begun_ms = event_loop_now_ms();
	reader->slot = progress_board_take();
	reader->said = memfd_create("said", MFD_CLOEXEC);
	reader->source = (struct event_source){ -1, hear };
	reader->next = queue->readers;
	queue->readers = reader;
	queue->reader_count++;
	return reader;
}

struct reader_process *reader_process_start(struct job_queue *queue,
					    struct served *trace)
{
	struct reader_process *reader = add_reader(queue, trace);
	int pair[2], error;

	if (reader->said < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET |
					   SOCK_CLOEXEC, 0, pair) != 0)
		goto fail;
	reader->source.fd = pair[0];
	reader->pid = fork();
	if (reader->pid == 0)
		become_reader(queue, pair[1], reader);
	error = errno;
	close(pair[1]);
	errno = error;
	if (reader->pid > 0 &&
	    event_loop_add(queue->loop, &reader->source, EPOLLIN) == 0)
		return reader;
fail:
	error = errno;
	reader_process_end(reader);
	errno = error;
	return NULL;
}

static bool is_current(const struct reader_process *reader)
{
	return reader->trace == NULL ||
		reader->generation == reader->trace->generation;
}

struct reader_process *reader_process_find(struct job_queue *queue,
					   struct served *trace)
{
	for (struct reader_process **at = &queue->readers; *at != NULL;
	     at = &(*at)->next) {
		struct reader_process *found = *at;

		if (found->trace != trace || !is_current(found))
			continue;
		*at = found->next;
		found->next = queue->readers;
		queue->readers = found;
		return found;
	}
	return NULL;
}

unsigned reader_process_reading(const struct job_queue *queue)
{
	unsigned count = 0;

	for (const struct reader_process *reader = queue->readers;
	     reader != NULL; reader = reader->next)
		count += !reader->ready;
	return count;
}

void reader_process_end(struct reader_process *reader)
{
	struct job_queue *queue = reader->queue;
	struct reader_process **at = &queue->readers;

	while (*at != reader)
		at = &(*at)->next;
	*at = reader->next;
	queue->reader_count--;
	if (reader->source.fd >= 0) {
		event_loop_remove(queue->loop, &reader->source);
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

void reader_process_reap(struct job_queue *queue)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (struct reader_process *reader = queue->readers;
		     reader != NULL; reader = reader->next)
			if (reader->pid == pid)
				reader->pid = 0;
}

void reader_process_retire(struct job_queue *queue)
{
	struct reader_process *reader = queue->readers, *next;
	unsigned idle = 0;

	for (; reader != NULL; reader = next) {
		next = reader->next;
		if (reader->jobs == 0 && reader->ready &&
		    (!is_current(reader) || ++idle > READERS_IDLE_MAX))
			reader_process_end(reader);
	}
}
