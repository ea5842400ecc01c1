/*
 * rest.c: see rest.h.
 */
#include "cli/serve/rest.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cli/base/grow.h"
#include "cli/base/text/base_name.h"
#include "cli/base/text/utf8.h"
#include "cli/serve/event_stream.h"
#include "cli/serve/http_compress.h"
#include "cli/serve/scrape.h"
#include "cli/serve/static_files.h"

#define API "/api/v1/"
#define TRACES "traces/"
#define WORK "work/"
#define TICKET_MAX 64		/* characters */

struct request {
	struct exchange *exchange;
	const char *method;
	struct route_parameter list[HTTP_PARAMETERS_MAX];
	size_t count;
	bool malformed;
};

static void answer(struct request *request, struct answer *answer)
{
	request->exchange->answer = answer;
}

static void answer_json(struct request *request, const struct buffer *text)
{
	answer(request, answer_text(200, "application/json", text->data,
				    text->size));
}

static const char get[] = "GET, HEAD";

static void refuse_method(struct request *request, const char *allow)
{
	char *text = grow_format("allowed methods: %s", allow);

	answer(request, answer_error(405, text));
	request->exchange->answer->allow = allow;
	free(text);
}

static bool is_method(const struct request *request, const char *method)
{
	return strcmp(request->method, method) == 0 ||
		(strcmp(method, "GET") == 0 &&
		 strcmp(request->method, "HEAD") == 0);
}

/* ---- parameters ---- */

static bool is_text(const char *text, size_t size)
{
	if (memchr(text, 0, size) != NULL)
		return false;
	while (*text != 0) {
		unsigned length = utf8_length(text);

		if (length == 0)
			return false;
		text += length;
	}
	return true;
}

static enum MHD_Result take_parameter(void *owner, enum MHD_ValueKind kind,
				      const char *name, size_t name_size,
				      const char *value, size_t value_size)
{
	struct request *request = owner;

	(void)kind;
	if (request->count == HTTP_PARAMETERS_MAX ||
	    !is_text(name, name_size) ||
	    (value != NULL && !is_text(value, value_size))) {
		request->malformed = true;
		return MHD_NO;
	}
	request->list[request->count++] =
		(struct route_parameter){ name, value };
	return MHD_YES;
}

static const char *find(const struct request *request, const char *name)
{
	for (size_t i = 0; i < request->count; i++)
		if (strcmp(request->list[i].name, name) == 0)
			return request->list[i].value;
	return NULL;
}

/* A client chooses its tickets: letters, digits, "-", "_", ".". */
static bool is_ticket(const char *text)
{
	size_t size = 0;

	while (isalnum((unsigned char)text[size]) ||
	       (text[size] != 0 && strchr("-_.", text[size]) != NULL))
		size++;
	return size > 0 && size <= TICKET_MAX && text[size] == 0;
}

/* ---- calls that run commands ---- */

bool rest_is_known(struct exchange *exchange, uint64_t key)
{
	const char *given = MHD_lookup_connection_value(
		exchange->connection, MHD_HEADER_KIND, "If-None-Match");
	char tag[32];

	snprintf(tag, sizeof(tag), "\"%016" PRIx64 "\"", key);
	return given != NULL && strstr(given, tag) != NULL;
}

/* From "NAME.trace" and ".svg" makes "NAME.svg"; characters that are not safe
 * in a header become "_". */
static char *disposition(const struct served *trace, const char *end)
{
	const char *name = base_name(trace->path);
	size_t size = strlen(name);
	char *text;

	if (size > 6 && strcmp(name + size - 6, ".trace") == 0)
		size -= 6;
	text = grow_format("attachment; filename=\"%.*s%s\"", (int)size, name,
			   end);
	for (char *at = strchr(text, '"') + 1; at[0] != 0 && at[1] != 0; at++)
		if (!isalnum((unsigned char)*at) && strchr("-_.", *at) == NULL)
			*at = '_';
	return text;
}

/* The answer may be set before this returns, or later. */
static void begin_job(struct request *request, struct job_request *call)
{
	struct exchange *exchange = request->exchange;
	const char *ticket = find(request, "ticket");
	uint64_t key;

	if (ticket != NULL && !is_ticket(ticket)) {
		answer(request, answer_error(400, "ticket: must have 1 to 64 "
						  "letters, digits, `-`, `_` "
						  "and `.`"));
		return;
	}
	if (call->route->saved_as == NULL)
		call->coding = http_compress_choose(MHD_lookup_connection_value(
			exchange->connection, MHD_HEADER_KIND,
			"Accept-Encoding"));
	key = job_request_key(call);
	if (rest_is_known(exchange, key)) {
		answer(request, answer_new(304, NULL, -1, 0, false));
		exchange->answer->key = key;
		return;
	}
	if (ticket != NULL)
		exchange->client.ticket = grow_copy(ticket, strlen(ticket));
	job_queue_begin(exchange->http->queue, call, &exchange->client);
}

static bool find_trace(struct request *request, const char *id,
		       struct served **trace)
{
	*trace = id == NULL ? NULL :
		served_find(request->exchange->http->served, id);
	if (*trace != NULL)
		served_poll(*trace);
	if (*trace != NULL && (*trace)->generation != 0)
		return true;
	answer(request, answer_error(404, "no such trace: /api/v1/traces lists "
					  "all"));
	return false;
}

static bool take_statement(struct request *request, struct job_request *call)
{
	const struct buffer *body = &request->exchange->body;
	const char *statement = find(request, "statement");

	if (body->size > 0)
		buffer_add(&call->input, body->data, body->size);
	else if (statement != NULL)
		buffer_string(&call->input, statement);
	if (call->input.size == 0)
		answer(request, answer_error(400, "statement: the parameter is "
						  "missing"));
	else if (memchr(call->input.data, 0, call->input.size) != NULL)
		answer(request, answer_error(400, "statement: contains a NUL "
						  "character, which ends SQL "
						  "texts"));
	else
		return true;
	return false;
}

static void run_route(struct request *request, struct job_request *call)
{
	LOCAL_BUFFER why = { 0 };
	const struct route *route = call->route;

	if (!is_method(request, "GET") &&
	    !(route->takes_statement && is_method(request, "POST")))
		refuse_method(request, route->takes_statement ?
			      "GET, HEAD, POST" : get);
	else if (!route_words(route, request->list, request->count,
			      &call->words, &call->operand, &why))
		answer(request, answer_error(400, why.data));
	else if (!route->takes_statement || take_statement(request, call))
		begin_job(request, call);
	buffer_free(&call->words);
	buffer_free(&call->input);
}

/* "ID/ROUTE" */
static void answer_trace(struct request *request, const char *rest)
{
	const char *slash = strchr(rest, '/');
	char id[SERVED_ID] = "";
	struct job_request call = { 0 };

	if (slash != NULL && slash - rest == SERVED_ID - 1)
		memcpy(id, rest, SERVED_ID - 1);
	if (!find_trace(request, id, &call.traces[0]))
		return;
	call.route = route_find(slash + 1);
	if (call.route == NULL) {
		answer(request, answer_error(404, "there is no such call: see "
					     "docs/REST.md"));
		return;
	}
	if (call.route->saved_as != NULL)
		request->exchange->disposition =
			disposition(call.traces[0], call.route->saved_as);
	run_route(request, &call);
}

static void answer_diff(struct request *request, const char *name)
{
	struct job_request call = { .route = route_find_diff(name) };

	if (find_trace(request, find(request, "old"), &call.traces[0]) &&
	    find_trace(request, find(request, "new"), &call.traces[1]))
		run_route(request, &call);
}

/* Profile collectors do not send ETags: each profile is computed again unless
 * it is cached. */
static void answer_scrape(struct request *request, const char *name)
{
	struct exchange *exchange = request->exchange;
	struct job_request *call = &exchange->held;
	uint64_t wait_ms;

	if (!is_method(request, "GET")) {
		refuse_method(request, get);
		return;
	}
	exchange->answer = scrape_call(exchange->http, name, request->list,
				       request->count, call, &wait_ms);
	if (exchange->answer == NULL && wait_ms > 0)
		http_hold(exchange, wait_ms);
	else if (exchange->answer == NULL)
		job_queue_begin(exchange->http->queue, call, &exchange->client);
}

/* ---- calls answered by the front ---- */

static void answer_traces(struct request *request)
{
	struct served_list *served = request->exchange->http->served;
	LOCAL_BUFFER text = { 0 };

	served_refresh(served);
	served_json(served, &text);
	answer_json(request, &text);
}

static void answer_job(struct request *request)
{
	LOCAL_BUFFER text = { 0 };

	job_queue_json(request->exchange->http->queue, &text);
	answer_json(request, &text);
}

static void cancel(struct request *request, const char *ticket)
{
	if (!is_method(request, "DELETE"))
		refuse_method(request, "DELETE");
	else if (job_queue_cancel(request->exchange->http->queue, ticket) > 0)
		answer(request, answer_new(204, NULL, -1, 0, false));
	else
		answer(request, answer_error(404, "no call with this ticket is "
						  "running"));
}

static void begin_events(struct request *request)
{
	if (strcmp(request->method, "GET") != 0)
		refuse_method(request, "GET");
	else if (!event_stream_begin(request->exchange))
		answer(request, answer_error(503, "too many clients are "
						  "listening for events"));
}

static void answer_api(struct request *request, const char *name)
{
	if (strncmp(name, TRACES, strlen(TRACES)) == 0)
		answer_trace(request, name + strlen(TRACES));
	else if (strncmp(name, WORK, strlen(WORK)) == 0)
		cancel(request, name + strlen(WORK));
	else if (strcmp(name, "events") == 0)
		begin_events(request);
	else if (!is_method(request, "GET"))
		refuse_method(request, get);
	else if (strcmp(name, "traces") == 0)
		answer_traces(request);
	else if (route_find_diff(name) != NULL)
		answer_diff(request, name);
	else if (strcmp(name, "work") == 0)
		answer_job(request);
	else
		answer(request, answer_error(404, "there is no such call: see "
					     "docs/REST.md"));
}

/* ---- the page ---- */

/* Move the token from the URL into a cookie: URLs are visible and kept in
 * histories. */
static void give_cookie(struct request *request)
{
	const struct http_guard *guard = &request->exchange->http->guard;
	struct answer *redirect = answer_new(303, NULL, -1, 0, false);

	redirect->location = grow_copy("/", 1);
	redirect->cookie = grow_format("%s=%s; HttpOnly; SameSite=Strict; "
				       "Path=/", guard->cookie, guard->token);
	answer(request, redirect);
}

/* Compress a file once for all clients. */
static struct answer *pack_file(const struct static_file *file,
				enum worker_coding coding)
{
	size_t size = strlen(file->text);
	struct answer *plain = answer_text(200, static_files_type(file),
					   file->text, size), *packed;
	int fd = coding == WORKER_PLAIN ? -1 :
		memfd_create("packed", MFD_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return plain;
	if (!http_compress_write(plain->fd, fd, coding) ||
	    fstat(fd, &status) != 0 || status.st_size == 0) {
		close(fd);
		return plain;
	}
	packed = answer_new(200, plain->type, fd, (uint64_t)status.st_size,
			    false);
	packed->coding = coding;
	answer_drop(plain);
	return packed;
}

static void send_file(struct request *request, const struct static_file *file)
{
	struct exchange *exchange = request->exchange;
	struct answer_cache *cache = &exchange->http->queue->cache;
	enum worker_coding coding =
		http_compress_choose(MHD_lookup_connection_value(
			exchange->connection, MHD_HEADER_KIND,
			"Accept-Encoding"));
	uint64_t key = XXH64(file->text, strlen(file->text),
			     (uint64_t)coding) | 1;

	if (rest_is_known(exchange, key)) {
		answer(request, answer_new(304, NULL, -1, 0, false));
		exchange->answer->key = key;
		return;
	}
	exchange->answer = answer_cache_find(cache, key);
	if (exchange->answer != NULL)
		return;
	answer(request, pack_file(file, coding));
	exchange->answer->key = key;
	answer_cache_keep(cache, exchange->answer);
}

static void answer_file(struct request *request, const char *name)
{
	static const char left_out[] = "This build of gnomon has no page: the "
				       "API is at /api/v1/traces.\n";
	const struct static_file *file = static_files_find(name);

	if (!is_method(request, "GET"))
		refuse_method(request, get);
	else if (name[0] == 0 && find(request, "token") != NULL &&
		 request->exchange->http->guard.token != NULL)
		give_cookie(request);
	else if (file != NULL)
		send_file(request, file);
	else if (name[0] == 0)
		answer(request, answer_text(200, "text/plain; charset=utf-8",
					    left_out, strlen(left_out)));
	else
		answer(request, answer_error(404, "no such page"));
}

void rest_begin(struct exchange *exchange, const char *method, const char *url)
{
	struct request request = { .exchange = exchange, .method = method };

	MHD_get_connection_values_n(exchange->connection,
				    MHD_GET_ARGUMENT_KIND, take_parameter,
				    &request);
	if (request.malformed)
		answer(&request, answer_error(400, "parameters: at most 256, "
						   "all in UTF-8"));
	else if (url[0] != '/')	/* the form for proxies, or "*" */
		answer(&request, answer_error(400, "the request target is not "
						   "a path"));
	else if (strncmp(url, API, strlen(API)) == 0)
		answer_api(&request, url + strlen(API));
	else if (strncmp(url, SCRAPE_PREFIX, strlen(SCRAPE_PREFIX)) == 0)
		answer_scrape(&request, url + strlen(SCRAPE_PREFIX));
	else
		answer_file(&request, url + 1);
}
