/*
 * http.c: see http.h.
 */
#include "cli/serve/http.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/serve/event_stream.h"
#include "cli/serve/http_compress.h"
#include "cli/serve/rest.h"

#define TOKEN_PARAMETER "token"

static const char *const heads[][2] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; "
	  "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; "
	  "worker-src 'self'; base-uri 'none'; form-action 'none'; "
	  "frame-ancestors 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cache-Control", "private, no-cache" },
	{ "Vary", "Accept-Encoding, Cookie, Authorization" },
};

static const char *head(struct exchange *exchange, const char *name)
{
	return MHD_lookup_connection_value(exchange->connection,
					   MHD_HEADER_KIND, name);
}

/* ---- connections ---- */

static void set_deadline(struct http_peer *peer, unsigned seconds)
{
	peer->until_ms = event_loop_now_ms() + seconds * 1000u;
}

static void note_connection(void *owner, struct MHD_Connection *connection,
			    void **state,
			    enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection,
					MHD_CONNECTION_INFO_CONNECTION_FD);
	struct http *http = owner;
	struct http_peer *peer = *state;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		peer = grow_zeroed(1, sizeof(*peer));
		peer->fd = info->connect_fd;
		peer->next = http->peers;
		peer->before = &http->peers;
		if (peer->next != NULL)
			peer->next->before = &peer->next;
		http->peers = peer;
		set_deadline(peer, HTTP_ARRIVAL_S);
		*state = peer;
		return;
	}
	*peer->before = peer->next;
	if (peer->next != NULL)
		peer->next->before = peer->before;
	free(peer);
}

/* Close connections past their deadline; libmicrohttpd notices. */
static void close_late(struct http *http)
{
	uint64_t now = event_loop_now_ms();

	if (now < http->looked_ms + 1000)
		return;
	http->looked_ms = now;
	for (struct http_peer *peer = http->peers; peer; peer = peer->next)
		if (peer->until_ms != 0 && peer->until_ms < now)
			shutdown(peer->fd, SHUT_RDWR);
}

/* ---- sending ---- */

static void add_head(struct MHD_Response *response, const char *name,
		     const char *value)
{
	/* Fails only when out of memory: the answer then lacks this header. */
	if (value != NULL)
		MHD_add_response_header(response, name, value);
}

static struct MHD_Response *empty_response(void)
{
	return MHD_create_response_from_buffer(0, (void *)"",
					       MHD_RESPMEM_PERSISTENT);
}

/* NULL: out of memory or descriptors. */
static struct MHD_Response *make_response(const struct answer *answer)
{
	struct MHD_Response *response;
	int fd;

	if (answer->fd < 0)
		return empty_response();
	fd = dup(answer->fd);
	if (fd < 0)
		return NULL;
	response = MHD_create_response_from_fd64(answer->size, fd);
	if (response == NULL)
		close(fd);
	return response;
}

static enum MHD_Result queue_response(struct exchange *exchange,
				      unsigned status,
				      struct MHD_Response *response)
{
	enum MHD_Result result;

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		add_head(response, heads[i][0], heads[i][1]);
	result = MHD_queue_response(exchange->connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result send_stream(struct exchange *exchange)
{
	struct MHD_Response *response = exchange->stream;

	exchange->stream = NULL;
	exchange->peer->until_ms = 0;
	add_head(response, "Content-Type", "text/event-stream");
	return queue_response(exchange, 200, response);
}

static void add_heads(struct MHD_Response *response,
		      const struct exchange *exchange,
		      const struct answer *answer)
{
	char tag[32];

	add_head(response, "Content-Type", answer->type);
	add_head(response, "Content-Encoding",
		 http_compress_name(answer->coding));
	add_head(response, "Gnomon-Messages", answer->messages);
	if (answer->status == 200)
		add_head(response, "Content-Disposition",
			 exchange->disposition);
	add_head(response, "Location", answer->location);
	add_head(response, "Set-Cookie", answer->cookie);
	add_head(response, "Allow", answer->allow);
	if (answer->key != 0) {
		snprintf(tag, sizeof(tag), "\"%016" PRIx64 "\"", answer->key);
		add_head(response, "ETag", tag);
	}
	if (answer->status == 401)
		add_head(response, "WWW-Authenticate", "Bearer");
}

static enum MHD_Result send_answer(struct exchange *exchange,
				   const struct answer *answer)
{
	struct MHD_Response *response = make_response(answer);

	set_deadline(exchange->peer, HTTP_SENDING_S);
	if (response != NULL) {
		add_heads(response, exchange, answer);
		return queue_response(exchange, answer->status, response);
	}
	/* A 200 without its body would be taken for a full answer. */
	response = empty_response();
	return response == NULL ? MHD_NO
				: queue_response(exchange, 503, response);
}

/* ---- waiting ---- */

void http_hold(struct exchange *exchange, uint64_t wait_ms)
{
	exchange->due_ms = event_loop_now_ms() + wait_ms;
	exchange->next_held = exchange->http->held;
	exchange->http->held = exchange;
	exchange->held.traces[0]->users++;
}

static void let_go(struct exchange *exchange)
{
	struct exchange **at = &exchange->http->held;

	if (exchange->due_ms == 0)
		return;
	while (*at != exchange)
		at = &(*at)->next_held;
	*at = exchange->next_held;
	exchange->due_ms = 0;
	exchange->held.traces[0]->users--;
}

static void begin_held(struct http *http)
{
	uint64_t now = event_loop_now_ms();

	for (struct exchange *exchange = http->held, *next; exchange != NULL;
	     exchange = next) {
		next = exchange->next_held;
		if (exchange->due_ms > now)
			continue;
		let_go(exchange);
		/* The call covers everything up to now. */
		served_poll_now(exchange->held.traces[0]);
		job_queue_begin(http->queue, &exchange->held,
				&exchange->client);
	}
}

/* The event can only be a close: a client sends no further request before this
 * one is answered. */
static void leave(struct event_source *source, uint32_t events)
{
	struct exchange *exchange = (struct exchange *)
		((char *)source - offsetof(struct exchange, leaving));

	(void)events;
	let_go(exchange);
	job_queue_leave(exchange->http->queue, &exchange->client);
	exchange->client.done(&exchange->client,
			      answer_error(400, "client disconnected"));
}

static void suspend(struct exchange *exchange)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(exchange->connection,
					MHD_CONNECTION_INFO_CONNECTION_FD);

	exchange->suspended = true;
	exchange->peer->until_ms = 0;
	MHD_suspend_connection(exchange->connection);
	exchange->leaving = (struct event_source){ info->connect_fd, leave };
	/* If it fails, the job runs on even if the client leaves. */
	event_loop_add(exchange->http->loop, &exchange->leaving, EPOLLRDHUP);
}

static void take_answer(struct job_client *client, struct answer *answer)
{
	struct exchange *exchange = (struct exchange *)client;

	answer_drop(exchange->answer);
	exchange->answer = answer;
	if (!exchange->suspended)
		return;
	exchange->suspended = false;
	event_loop_remove(exchange->http->loop, &exchange->leaving);
	MHD_resume_connection(exchange->connection);
}

/* ---- requests ---- */

static enum http_verdict judge(struct exchange *exchange, const char *method,
			       const char *url)
{
	const struct http_heads given = {
		.host = head(exchange, "Host"),
		.origin = head(exchange, "Origin"),
		.fetch_site = head(exchange, "Sec-Fetch-Site"),
		.authorization = head(exchange, "Authorization"),
		.cookies = head(exchange, "Cookie"),
		.token = MHD_lookup_connection_value(exchange->connection,
						     MHD_GET_ARGUMENT_KIND,
						     TOKEN_PARAMETER),
		.navigation = strcmp(method, "GET") == 0 &&
			strcmp(url, "/") == 0,
	};

	return http_guard_check(&exchange->http->guard, &given);
}

/* NULL: the request is allowed. */
static struct answer *refuse(struct exchange *exchange, const char *method,
			     const char *url)
{
	switch (judge(exchange, method, url)) {
	case HTTP_BAD_HOST:
		return answer_error(421, "Host is not an address of this "
					 "server: use the address that it "
					 "printed, or start it with --host");
	case HTTP_BAD_ORIGIN:
		return answer_error(403, "requests from pages of other sites "
					 "are refused");
	case HTTP_NO_TOKEN:
		return answer_error(401, "a token is required: use the address "
					 "that the server printed");
	default:
		return NULL;
	}
}

static struct exchange *begin(struct http *http,
			      struct MHD_Connection *connection,
			      const char *method, const char *url)
{
	struct exchange *exchange = grow_zeroed(1, sizeof(*exchange));

	exchange->http = http;
	exchange->connection = connection;
	exchange->client.done = take_answer;
	exchange->peer = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	exchange->answer = refuse(exchange, method, url);
	return exchange;
}

static void take_body(struct exchange *exchange, const char *data, size_t size)
{
	struct http *http = exchange->http;

	if (exchange->answer != NULL)
		return;
	if (exchange->body.size + size > HTTP_BODY_MAX) {
		exchange->answer = answer_error(413, "the body is too large");
	} else if (http->body_bytes + size > HTTP_BODIES_MAX) {
		exchange->answer = answer_error(503, "too many request bodies "
						     "at once: try again "
						     "later");
	} else {
		buffer_add(&exchange->body, data, size);
		http->body_bytes += size;
	}
}

static enum MHD_Result handle(void *owner, struct MHD_Connection *connection,
			      const char *url, const char *method,
			      const char *version, const char *data,
			      size_t *size, void **state)
{
	struct exchange *exchange = *state;

	(void)version;
	if (exchange == NULL) {
		exchange = begin(owner, connection, method, url);
		*state = exchange;
		return exchange->answer == NULL ? MHD_YES :
			send_answer(exchange, exchange->answer);
	}
	if (*size > 0) {
		take_body(exchange, data, *size);
		*size = 0;
		return MHD_YES;
	}
	if (exchange->answer == NULL && exchange->http->closing)
		exchange->answer = answer_error(503, "the server is shutting "
						     "down");
	if (exchange->answer == NULL)
		rest_begin(exchange, method, url);
	if (exchange->answer != NULL)
		return send_answer(exchange, exchange->answer);
	if (exchange->stream != NULL)
		return send_stream(exchange);
	suspend(exchange);
	return MHD_YES;
}

static void end(void *owner, struct MHD_Connection *connection, void **state,
		enum MHD_RequestTerminationCode code)
{
	struct exchange *exchange = *state;

	(void)owner, (void)connection, (void)code;
	if (exchange == NULL)
		return;
	set_deadline(exchange->peer, HTTP_ARRIVAL_S);
	if (exchange->suspended)
		event_loop_remove(exchange->http->loop, &exchange->leaving);
	let_go(exchange);
	job_queue_leave(exchange->http->queue, &exchange->client);
	answer_drop(exchange->answer);
	exchange->http->body_bytes -= exchange->body.size;
	buffer_free(&exchange->held.words);
	buffer_free(&exchange->body);
	free(exchange->client.ticket);
	free(exchange->disposition);
	free(exchange);
	*state = NULL;
}

/* ---- the daemon ---- */

/* Errors of clients are not logged. */
static void say_nothing(void *owner, const char *format, va_list args)
{
	(void)owner, (void)format, (void)args;
}

static void wake(struct event_source *source, uint32_t events)
{
	(void)source, (void)events;	/* http_run follows */
}

static unsigned connections_max(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 ||
	    files.rlim_cur / HTTP_DESCRIPTORS >= HTTP_CONNECTIONS_MAX)
		return HTTP_CONNECTIONS_MAX;
	return (unsigned)files.rlim_cur / HTTP_DESCRIPTORS;
}

int http_open(struct http *http, int listening)
{
	const union MHD_DaemonInfo *info;

	http->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
		NULL, NULL, handle, http,
		MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
		MHD_OPTION_LISTEN_SOCKET, listening,
		MHD_OPTION_CONNECTION_LIMIT, connections_max(),
		MHD_OPTION_CONNECTION_TIMEOUT, HTTP_IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_HEADS_MAX,
		MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_NOTIFY_COMPLETED, end, http,
		MHD_OPTION_NOTIFY_CONNECTION, note_connection, http,
		MHD_OPTION_END);
	if (http->daemon == NULL)
		return -ENOMEM;
	info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	http->source = (struct event_source){ info->epoll_fd, wake };
	return event_loop_add(http->loop, &http->source, EPOLLIN);
}

int http_run(struct http *http)
{
	MHD_UNSIGNED_LONG_LONG ms, max;
	bool any;

	close_late(http);
	begin_held(http);
	event_stream_poll(http);
	/* After the connection limit was reached, the daemon checks the
	 * listening socket again only in its next run. */
	do {
		any = http->peers != NULL;
		MHD_run(http->daemon);
	} while (any && http->peers == NULL);
	if (http->peers == NULL)
		return -1;
	max = http->listeners != NULL ? EVENT_STREAM_MS : 1000;
	if (MHD_get_timeout(http->daemon, &ms) == MHD_NO || ms > max)
		return (int)max;
	return (int)ms;
}

/* libmicrohttpd forbids MHD_stop_daemon while a connection is suspended. */
void http_close(struct http *http)
{
	http->closing = true;
	while (http->held != NULL)
		leave(&http->held->leaving, 0);
	event_stream_close(http);
	MHD_run(http->daemon);
	MHD_stop_daemon(http->daemon);
}
