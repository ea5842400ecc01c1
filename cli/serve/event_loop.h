/*
 * event_loop.h: what the server waits for: descriptors, each with a function that
 * is called when there is something, and ticks. One thread.
 */
#ifndef GNOMON_EVENT_LOOP_H
#define GNOMON_EVENT_LOOP_H

#include <stddef.h>
#include <stdint.h>

/* Embedded in what is waited for; stays where it is while it is added. */
struct event_source {
	int fd;
	void (*ready)(struct event_source *source, uint32_t events);
};

struct event_loop {
	int fd;			/* of epoll */
	/* Sources that went away while events were handed out. */
	struct event_source **gone;
	size_t gone_count, gone_capacity;
};

/* 0 or -errno. */
int event_loop_open(struct event_loop *loop);
/* `events`: EPOLLIN and the like. 0 or -errno. */
int event_loop_add(struct event_loop *loop, struct event_source *source,
		   uint32_t events);
/* It is not called any more, not even for what was seen already. The descriptor
 * is the caller's to close, after this. */
void event_loop_remove(struct event_loop *loop, struct event_source *source);
/* Waits so long (-1: for ever), and calls whatever is ready. 0 or -errno. */
int event_loop_wait(struct event_loop *loop, int timeout_ms);
void event_loop_close(struct event_loop *loop);

/* Of CLOCK_MONOTONIC. */
uint64_t event_loop_now_ms(void);

#endif
