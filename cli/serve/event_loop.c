/*
 * event_loop.c: see event_loop.h.
 */
#include "cli/serve/event_loop.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/grow.h"

#define EVENTS_AT_ONCE 64

int event_loop_open(struct event_loop *loop)
{
	*loop = (struct event_loop){ .fd = epoll_create1(EPOLL_CLOEXEC) };
	return loop->fd < 0 ? -errno : 0;
}

int event_loop_add(struct event_loop *loop, struct event_source *source,
		   uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	return epoll_ctl(loop->fd, EPOLL_CTL_ADD, source->fd, &event) == 0 ?
		0 : -errno;
}

void event_loop_remove(struct event_loop *loop, struct event_source *source)
{
	/* A closed descriptor has already left epoll. */
	epoll_ctl(loop->fd, EPOLL_CTL_DEL, source->fd, NULL);
	GROW(loop->gone, loop->gone_count, loop->gone_capacity);
	loop->gone[loop->gone_count++] = source;
}

static bool is_gone(const struct event_loop *loop,
		    const struct event_source *source)
{
	for (size_t i = 0; i < loop->gone_count; i++)
		if (loop->gone[i] == source)
			return true;
	return false;
}

int event_loop_wait(struct event_loop *loop, int timeout_ms)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(loop->fd, events, EVENTS_AT_ONCE, timeout_ms);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	loop->gone_count = 0;
	for (int i = 0; i < n; i++) {
		struct event_source *source = events[i].data.ptr;

		if (!is_gone(loop, source))
			source->ready(source, events[i].events);
	}
	return 0;
}

void event_loop_close(struct event_loop *loop)
{
	close(loop->fd);
	free(loop->gone);
}

uint64_t event_loop_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
