/*
 * http.h: the server as HTTP has it: connections, requests with their limits,
 * answers with their headers. What is asked and answered is rest.h's. One
 * thread, which may fork: libmicrohttpd runs in our event loop, without
 * threads.
 *
 *	request ─▶ guard ─▶ body ─▶ rest ─▶ an answer at once
 *	                             └────▶ work: suspended until it is there;
 *	                                    a client that leaves ends it
 */
#ifndef GNOMON_HTTP_H
#define GNOMON_HTTP_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/serve/event_loop.h"
#include "cli/serve/http_guard.h"
#include "cli/serve/served.h"
#include "cli/serve/work.h"

/* Connections at once; more wait to be accepted. Fewer, where a process may not
 * have so many descriptors: each may take three. */
#define HTTP_CONNECTIONS_MAX 1024
#define HTTP_DESCRIPTORS 4	/* for each */
/* Bytes of a request's line and headers, and of what is sent of an answer. */
#define HTTP_HEADS_MAX 32768
/* Bytes of a body: a text of SQL. */
#define HTTP_BODY_MAX (1u << 20)
/* Bytes of all of them; each may be held twice, by its request and by its job. */
#define HTTP_BODIES_MAX (32u << 20)
/* Seconds without a byte. */
#define HTTP_IDLE_S 30
/* Seconds that a request may take to arrive, from the connection's beginning or
 * the answer before it: a client that sends a byte now and then is not waited
 * for. And that an answer may take to be taken. */
#define HTTP_ARRIVAL_S 60
#define HTTP_SENDING_S 600
/* Parameters of a URL. */
#define HTTP_PARAMETERS_MAX 256

/* A connection. */
struct http_peer {
	struct http_peer *next, **before;
	int fd;
	uint64_t until_ms;	/* it is closed then; 0: its call is worked on */
};

struct http {
	struct event_loop *loop;
	struct served_list *served;
	struct work *work;
	struct http_guard guard;
	/* The rest begins with zeros. */
	struct event_source source;	/* of libmicrohttpd's epoll */
	struct MHD_Daemon *daemon;
	struct http_peer *peers;
	uint64_t looked_ms;	/* when they were looked at */
	size_t body_bytes;	/* of all exchanges */
	struct exchange *held;	/* what waits for its time */
	bool closing;		/* no call is begun any more */
	/* event_stream.c's. */
	struct listener *listeners;
	unsigned listener_count;
	uint64_t told_ms, refreshed_ms;
};

/* A request that is being answered. */
struct exchange {
	struct work_client client;	/* first */
	struct http *http;
	struct MHD_Connection *connection;
	struct http_peer *peer;
	struct event_source leaving;	/* its socket, while it is suspended */
	struct buffer body;
	/* A call that is made later: `due_ms`, or 0. */
	struct work_call held;
	uint64_t due_ms;
	struct exchange *next_held;
	struct answer *answer;	/* NULL: it is not there yet */
	struct MHD_Response *stream;	/* or it is this, which has no end */
	char *disposition;	/* a header of a good one; NULL: none */
	bool suspended;
};

/* Serve what comes by this socket, which listens. 0 or -errno. */
int http_open(struct http *http, int listening);
/* After each wait of the loop. How long the next one may take: -1: for ever. */
int http_run(struct http *http);
/* Make exchange->held, which has words of its own, after so long. */
void http_hold(struct exchange *exchange, uint64_t wait_ms);
void http_close(struct http *http);

#endif
