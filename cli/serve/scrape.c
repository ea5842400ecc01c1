/*
 * scrape.c: see scrape.h.
 */
#include "cli/serve/scrape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/base/grow.h"

#define NS_IN_MS UINT64_C(1000000)

static const struct {
	const char *name, *cost;	/* default sample type */
} profiles[] = {
	{ "heap", "live" },
	{ "allocs", "total" },
};

/* Go's parameters without a meaning here: force a GC, text output. */
static bool is_ignored(const struct route_parameter *given)
{
	return strcmp(given->name, "trace") == 0 ||
		strcmp(given->name, "seconds") == 0 ||
		strcmp(given->name, "gc") == 0 ||
		(strcmp(given->name, "debug") == 0 &&
		 (given->value == NULL || strcmp(given->value, "0") == 0));
}

static const char *find(const struct route_parameter *parameters,
			size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(parameters[i].name, name) == 0)
			return parameters[i].value;
	return NULL;
}

static struct answer *choose_trace(struct http *http, const char *id,
				   struct served **trace)
{
	served_refresh(http->served);
	*trace = id != NULL ? served_find(http->served, id) :
		served_newest(http->served);
	if (*trace != NULL && (*trace)->generation != 0)
		return NULL;
	return answer_error(404, id != NULL ? "no such trace: /api/v1/traces "
					      "lists all" : "no trace is "
							    "served");
}

/* The current time in ms since the start of the trace. */
static uint64_t moment_of(const struct served *trace)
{
	struct timespec now;
	uint64_t ns;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = (uint64_t)now.tv_sec * 1000 * NS_IN_MS + (uint64_t)now.tv_nsec;
	return ns > trace->begin_ns ? (ns - trace->begin_ns) / NS_IN_MS : 0;
}

/* Set "--from" to now, and the time to wait. */
static struct answer *take_seconds(const struct served *trace,
				   const char *seconds, char **from,
				   uint64_t *wait_ms)
{
	char *end;
	unsigned long value = strtoul(seconds, &end, 10);

	if (*end != 0 || value == 0 || value > SCRAPE_SECONDS_MAX)
		return answer_error(400, "seconds: must be a number from 1 to "
					 "600");
	if (!trace->live || trace->begin_ns == 0)
		return answer_error(400, "seconds: the trace is not being "
					 "recorded, so it cannot change");
	*wait_ms = value * 1000;
	*from = grow_format("%" PRIu64 "ms", moment_of(trace));
	return NULL;
}

struct answer *scrape_call(struct http *http, const char *name,
			   const struct route_parameter *parameters,
			   size_t count, struct job_request *call,
			   uint64_t *wait_ms)
{
	struct route_parameter list[HTTP_PARAMETERS_MAX + 2];
	const char *seconds = find(parameters, count, "seconds");
	LOCAL_BUFFER why = { 0 };
	struct answer *wrong;
	char *from = NULL;
	size_t kind = 0, n = 0;

	while (kind < 2 && strcmp(profiles[kind].name, name) != 0)
		kind++;
	if (kind == 2)
		return answer_error(404, "no such profile: there are heap and "
					 "allocs");
	*wait_ms = 0;
	wrong = choose_trace(http, find(parameters, count, "trace"),
			     &call->traces[0]);
	if (wrong == NULL && seconds != NULL)
		wrong = take_seconds(call->traces[0], seconds, &from,
				     wait_ms);
	if (wrong != NULL)
		return wrong;
	list[n++] = (struct route_parameter){ "cost", profiles[kind].cost };
	if (from != NULL)
		list[n++] = (struct route_parameter){ "from", from };
	for (size_t i = 0; i < count; i++)
		if (!is_ignored(&parameters[i]))
			list[n++] = parameters[i];
	call->route = route_find("export/pprof");
	if (!route_words(call->route, list, n, &call->words, &call->operand,
			 &why))
		wrong = answer_error(400, why.data);
	free(from);
	return wrong;
}
