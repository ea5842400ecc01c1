/*
 * scrape.h: /debug/pprof/heap and /debug/pprof/allocs, like Go's
 * net/http/pprof, for profile collectors: Parca, Pyroscope, OpenTelemetry
 * collectors, `go tool pprof`. One thread, the front's.
 */
#ifndef GNOMON_SCRAPE_H
#define GNOMON_SCRAPE_H

#include "cli/serve/http.h"

#define SCRAPE_PREFIX "/debug/pprof/"
/* The longest `seconds` that a client may request. */
#define SCRAPE_SECONDS_MAX 600

/*
 * Fill in the call. `name` is "heap" or "allocs". The parameters "trace" and
 * "seconds" are handled here, the remaining ones are those of the pprof export.
 * With seconds, *wait_ms is set: start the call after that time; it covers
 * allocations since now. Returns NULL, or an answer with the error.
 */
struct answer *scrape_call(struct http *http, const char *name,
			   const struct route_parameter *parameters,
			   size_t count, struct job_request *call,
			   uint64_t *wait_ms);

#endif
