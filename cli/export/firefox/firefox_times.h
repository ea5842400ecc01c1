/*
 * firefox_times.h: process-wide data over time in a Firefox Profiler profile:
 * memory counters and markers.
 */
#ifndef GNOMON_FIREFOX_TIMES_H
#define GNOMON_FIREFOX_TIMES_H

#include "cli/base/text/json.h"
#include "cli/command/export.h"
#include "cli/export/firefox/firefox_tables.h"

#define FIREFOX_MS_DECIMALS 6	/* of a time in ms, exact to 1 ns */

/* "counters". `live`: live memory; left out if it has no buckets. */
void firefox_write_counters(const struct export *export,
			    const struct timeline *live, const char *pid,
			    struct json *json);
/* "markers", and the schema in `meta` for how to show them. */
void firefox_write_markers(const struct export *export,
			   struct firefox_tables *tables, struct json *json);
void firefox_write_marker_schema(struct json *json);

#endif
