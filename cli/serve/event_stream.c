/*
 * event_stream.c: see event_stream.h. A client whose events have all been sent is
 * suspended until there are more.
 */
#include "cli/serve/event_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "cli/base/grow.h"

#define PENDING_MAX 65536u	/* unread bytes of a client; above it, it is
				 * disconnected */
#define BLOCK 4096u		/* bytes that libmicrohttpd asks for at once */
#define LISTENERS_MAX 64	/* clients; more are refused */
#define ALIVE_MS 15000u		/* a line is sent, to detect closed clients */
#define TRACES_MS 1000u		/* files are checked */

struct listener {
	struct event_source leaving;	/* first: its socket */
	struct listener *next;
	struct http *http;
	struct MHD_Connection *connection;
	struct buffer pending;
	size_t sent;		/* bytes of `pending` that were sent */
	bool suspended, gone;
	uint64_t reported_ms;	/* when the last event was sent */
};

static void go_on(struct listener *listener)
{
	if (!listener->suspended)
		return;
	listener->suspended = false;
	event_loop_remove(listener->http->loop, &listener->leaving);
	MHD_resume_connection(listener->connection);
}

static void leave(struct event_source *source, uint32_t events)
{
	struct listener *listener = (struct listener *)source;

	(void)events;
	listener->gone = true;
	go_on(listener);
}

static ssize_t give(void *owner, uint64_t position, char *to, size_t room)
{
	struct listener *listener = owner;
	size_t left = listener->pending.size - listener->sent;

	(void)position;
	if (listener->gone)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (left == 0) {
		listener->suspended = true;
		MHD_suspend_connection(listener->connection);
		/* If it fails, the next event detects that the client left. */
		event_loop_add(listener->http->loop, &listener->leaving,
			       EPOLLRDHUP);
		return 0;
	}
	if (left < room)
		room = left;
	memcpy(to, listener->pending.data + listener->sent, room);
	listener->sent += room;
	if (listener->sent == listener->pending.size) {
		buffer_clear(&listener->pending);
		listener->sent = 0;
	}
	return (ssize_t)room;
}

static void forget(void *owner)
{
	struct listener *listener = owner;
	struct listener **at = &listener->http->listeners;

	while (*at != listener)
		at = &(*at)->next;
	*at = listener->next;
	listener->http->listener_count--;
	if (listener->suspended)
		event_loop_remove(listener->http->loop, &listener->leaving);
	buffer_free(&listener->pending);
	free(listener);
}

static void report(struct listener *listener, const char *text)
{
	if (listener->pending.size + strlen(text) > PENDING_MAX)
		listener->gone = true;
	else
		buffer_string(&listener->pending, text);
	listener->reported_ms = event_loop_now_ms();
	go_on(listener);
}

static void report_all(struct http *http, const char *text)
{
	for (struct listener *listener = http->listeners, *next;
	     listener != NULL; listener = next) {
		next = listener->next;
		report(listener, text);
	}
}

/* Mark the trace's state as sent to listeners. True: it was new. */
static bool note_reported(struct served *trace)
{
	bool new = trace->reported != trace->generation ||
		trace->reported_live != trace->live;

	trace->reported = trace->generation;
	trace->reported_live = trace->live;
	return new;
}

/* Changes before the first listener are not sent: clients list the traces after
 * they start to listen. */
static void begin_looking(struct http *http)
{
	served_refresh(http->served);
	for (size_t i = 0; i < http->served->count; i++)
		note_reported(http->served->list[i]);
}

bool event_stream_begin(struct exchange *exchange)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(exchange->connection,
					MHD_CONNECTION_INFO_CONNECTION_FD);
	struct listener *listener;

	if (exchange->http->listener_count == LISTENERS_MAX)
		return false;
	listener = grow_zeroed(1, sizeof(*listener));
	listener->leaving = (struct event_source){ info->connect_fd, leave };
	listener->http = exchange->http;
	listener->connection = exchange->connection;
	listener->next = exchange->http->listeners;
	exchange->stream = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, BLOCK, give, listener, forget);
	if (exchange->stream == NULL) {
		free(listener);
		return false;
	}
	if (exchange->http->listeners == NULL)
		begin_looking(exchange->http);
	exchange->http->listeners = listener;
	exchange->http->listener_count++;
	/* The first line confirms the stream. */
	report(listener, "retry: 2000\n: listening\n\n");
	return true;
}

/* ---- changes ---- */

static void report_traces(struct http *http)
{
	const struct served_list *served = http->served;

	for (size_t i = 0; i < served->count; i++) {
		struct served *trace = served->list[i];
		LOCAL_BUFFER text = { 0 };

		if (!note_reported(trace))
			continue;
		buffer_printf(&text, "event: trace\ndata: {\"id\":\"%s\","
			      "\"generation\":\"%016" PRIx64 "\","
			      "\"size_bytes\":%" PRIu64 ",\"live\":%s}\n\n",
			      trace->id, trace->generation, trace->size,
			      trace->live ? "true" : "false");
		report_all(http, text.data);
	}
}

static void report_alive(struct http *http, uint64_t now)
{
	for (struct listener *listener = http->listeners, *next;
	     listener != NULL; listener = next) {
		next = listener->next;
		if (listener->reported_ms + ALIVE_MS < now)
			report(listener, ": here\n\n");
	}
}

void event_stream_poll(struct http *http)
{
	uint64_t now = event_loop_now_ms();
	LOCAL_BUFFER progress = { 0 };

	if (http->listeners == NULL ||
	    now < http->reported_ms + EVENT_STREAM_MS)
		return;
	http->reported_ms = now;
	job_queue_progress(http->queue, &progress);
	if (progress.size > 0)
		report_all(http, progress.data);
	if (now >= http->refreshed_ms + TRACES_MS) {
		http->refreshed_ms = now;
		served_refresh(http->served);
		report_traces(http);
	}
	report_alive(http, now);
}

void event_stream_close(struct http *http)
{
	for (struct listener *listener = http->listeners, *next;
	     listener != NULL; listener = next) {
		next = listener->next;
		listener->gone = true;
		go_on(listener);
	}
}
