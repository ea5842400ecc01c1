/*
 * http.h: the server's HTTP side: connections, requests with limits, answers
 * with headers. rest.h handles the content. One thread, so the process may
 * fork: libmicrohttpd runs in the server's event loop, without threads.
 *
 *	request ─▶ guard ─▶ body ─▶ rest ─▶ answered at once
 *	                             └────▶ job: suspended until answered;
 *	                                    a disconnect cancels it
 */
#ifndef GNOMON_HTTP_H
#define GNOMON_HTTP_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/serve/event_loop.h"
#include "cli/serve/http_guard.h"
#include "cli/serve/served.h"
#include "cli/serve/job_queue.h"

/* Open connections; more wait to be accepted. Fewer if the process may not have
 * that many descriptors: each connection may take three. */
#define HTTP_CONNECTIONS_MAX 1024
#define HTTP_DESCRIPTORS 4	/* reserved for each connection */
/* Bytes of a request's line and headers, and of an answer's send buffer. */
#define HTTP_HEADS_MAX 32768
/* Bytes of a request body: an SQL text. */
#define HTTP_BODY_MAX (1u << 20)
/* Bytes of all request bodies. Each may be held twice: by its request and by
 * its job. */
#define HTTP_BODIES_MAX (32u << 20)
/* Seconds without traffic before a connection is closed. */
#define HTTP_IDLE_S 30
/* Seconds in which a request must arrive, counted from the start of the
 * connection or from the previous answer. A client that sends a byte now and
 * then cannot extend the time. And seconds in which a client must read an
 * answer. */
#define HTTP_ARRIVAL_S 60
#define HTTP_SENDING_S 600
/* Parameters of a URL. */
#define HTTP_PARAMETERS_MAX 256

/* A connection. */
struct http_peer {
	struct http_peer *next, **before;
	int fd;
	uint64_t until_ms;	/* deadline; 0: none, its call is running */
};

struct http {
	struct event_loop *loop;
	struct served_list *served;
	struct job_queue *queue;
	struct http_guard guard;
	/* The remaining members start as zeros. */
	struct event_source source;	/* of libmicrohttpd's epoll */
	struct MHD_Daemon *daemon;
	struct http_peer *peers;
	uint64_t looked_ms;	/* when their deadlines were last checked */
	size_t body_bytes;	/* of all exchanges */
	struct exchange *held;	/* calls that start later (http_hold) */
	bool closing;		/* new calls are refused */
	/* Owned by event_stream.c. */
	struct listener *listeners;
	unsigned listener_count;
	uint64_t reported_ms, refreshed_ms;
};

/* A request until its answer is sent. */
struct exchange {
	struct job_client client;	/* first */
	struct http *http;
	struct MHD_Connection *connection;
	struct http_peer *peer;
	struct event_source leaving;	/* its socket, while suspended */
	struct buffer body;
	/* A call that starts at `due_ms`; 0: none. */
	struct job_request held;
	uint64_t due_ms;
	struct exchange *next_held;
	struct answer *answer;	/* NULL: not ready */
	struct MHD_Response *stream;	/* or this endless stream */
	char *disposition;	/* header for status 200; NULL: none */
	bool suspended;
};

/* Serve requests from this listening socket. 0 or -errno. */
int http_open(struct http *http, int listening);
/* Call it after each wait of the loop. Returns how long the next wait may take
 * in ms; -1: no limit. */
int http_run(struct http *http);
/* Start the call exchange->held, which owns its words, after wait_ms. */
void http_hold(struct exchange *exchange, uint64_t wait_ms);
void http_close(struct http *http);

#endif
