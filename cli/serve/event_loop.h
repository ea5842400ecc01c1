/*
 * event_loop.h: the server's event loop: descriptors, each with a function that
 * is called when epoll reports it. One thread.
 */
#ifndef GNOMON_EVENT_LOOP_H
#define GNOMON_EVENT_LOOP_H

#include <stddef.h>
#include <stdint.h>

/* Embed it in the object to be woken; its address must not change while it is
 * added. */
struct event_source {
	int fd;
	void (*ready)(struct event_source *source, uint32_t events);
};

struct event_loop {
	int fd;			/* epoll's */
	/* Sources removed while events were dispatched. */
	struct event_source **gone;
	size_t gone_count, gone_capacity;
};

/* 0 or -errno. */
int event_loop_open(struct event_loop *loop);
/* `events`: EPOLLIN and the like. 0 or -errno. */
int event_loop_add(struct event_loop *loop, struct event_source *source,
		   uint32_t events);
/* `ready` is not called any more, not even for events already received. The
 * caller closes the descriptor afterwards. */
void event_loop_remove(struct event_loop *loop, struct event_source *source);
/* Waits up to timeout_ms (-1: no limit) and calls `ready` of each ready source.
 * 0 or -errno. */
int event_loop_wait(struct event_loop *loop, int timeout_ms);
void event_loop_close(struct event_loop *loop);

/* CLOCK_MONOTONIC. */
uint64_t event_loop_now_ms(void);

#endif
