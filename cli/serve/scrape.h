/*
 * scrape.h: /debug/pprof/heap and /debug/pprof/allocs, as Go's programs have them
 * (net/http/pprof), for what collects profiles: Parca, Pyroscope, OpenTelemetry
 * collectors, `go tool pprof`. One thread, the front's.
 */
#ifndef GNOMON_SCRAPE_H
#define GNOMON_SCRAPE_H

#include "cli/serve/http.h"

#define SCRAPE_PREFIX "/debug/pprof/"
/* How long a client may wait for what happens meanwhile. */
#define SCRAPE_SECONDS_MAX 600

/*
 * The words of a call: `name` is "heap" or "allocs"; of `parameters`, "trace" and
 * "seconds" are looked at, the rest are those of an export as pprof. With
 * seconds, *wait_ms is set, and the call is to be made when they are over, for
 * what was allocated since now. NULL, or what is wrong.
 */
struct answer *scrape_call(struct http *http, const char *name,
			   const struct route_parameter *parameters,
			   size_t count, struct work_call *call,
			   uint64_t *wait_ms);

#endif
