/*
 * pressure.h: triggers a snapshot when the process uses much memory or its
 * control group nears a limit. The process may be killed a moment later. The
 * recorder only.
 */
#ifndef GNOMON_PRESSURE_H
#define GNOMON_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command/options_check.h"
#include "cli/recorder/memory/cgroup.h"
#include "cli/recorder/memory/snapshot.h"

struct pressure {
	int pid;
	uint64_t page_bytes;	/* of /proc/PID/statm */
	uint64_t due_ns;	/* of the next check */
	uint64_t found_ns;	/* last search for the group */
	struct cgroup cgroup;
	bool found;		/* it has a group */
	uint64_t limit;		/* of the group, or the machine's memory; 0 */
	uint64_t events;	/* of the group, at the last check */
	bool counted;		/* `events` is valid */
	struct options_rss level[OPTIONS_RSS_MAX];
	unsigned levels;
	uint32_t passed;	/* bits: levels that were passed */
};

void pressure_init(struct pressure *pressure, int pid);

/* Sets the group from the lines of /proc/PID/cgroup. The events of another
 * group than before are counted anew. */
void pressure_group(struct pressure *pressure, const char *root,
		    const char *lines);

/* Call often; checks every 100 ms. True: take a snapshot, named after the
 * reason. Returns one reason at a time. */
bool pressure_poll(struct pressure *pressure, uint64_t now_ns,
		   char name[SNAPSHOT_NAME_MAX]);

/* The same for given values: resident bytes, and events of the group. */
bool pressure_is_high(struct pressure *pressure, uint64_t rss, uint64_t events,
		      char name[SNAPSHOT_NAME_MAX]);

#endif
