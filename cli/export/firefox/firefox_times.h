/*
 * firefox_times.h: what a profile for the Firefox Profiler has of the whole
 * program over time: counters of memory, and markers.
 */
#ifndef GNOMON_FIREFOX_TIMES_H
#define GNOMON_FIREFOX_TIMES_H

#include "cli/base/text/json.h"
#include "cli/command/export.h"
#include "cli/export/firefox/firefox_tables.h"

#define FIREFOX_MS_DECIMALS 6	/* of a time in ns */

/* "counters"; `live`: what was live; without buckets it is left out. */
void firefox_write_counters(const struct export *export,
			    const struct timeline *live, const char *pid,
			    struct json *json);
/* "markers", and for `meta` how they are shown. */
void firefox_write_markers(const struct export *export,
			   struct firefox_tables *tables, struct json *json);
void firefox_write_marker_schema(struct json *json);

#endif
