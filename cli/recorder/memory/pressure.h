/*
 * pressure.h: when the process comes to have much memory, or its control group
 * too little, a snapshot is due: what is known then may be all that is left a
 * moment later. The writer only.
 */
#ifndef GNOMON_PRESSURE_H
#define GNOMON_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command/options_agree.h"
#include "cli/recorder/memory/cgroup.h"
#include "cli/recorder/memory/snapshot.h"

struct pressure {
	int pid;
	uint64_t due_ns;	/* of the next look */
	uint64_t found_ns;	/* the group was last sought */
	struct cgroup cgroup;
	bool found;		/* there is one */
	uint64_t limit;		/* of it, or the machine's memory; 0 */
	uint64_t events;	/* of the group, seen */
	bool counted;		/* they are known */
	struct options_rss level[OPTIONS_RSS_MAX];
	unsigned levels;
	uint32_t passed;	/* bits: levels that were passed */
};

void pressure_init(struct pressure *pressure, int pid);

/* To be called often; looks every 100 ms. Whether there is a reason, which is
 * put down as a name; one at a time. */
bool pressure_look(struct pressure *pressure, uint64_t now_ns,
		   char name[SNAPSHOT_NAME_MAX]);

/* The same with what a look finds: bytes resident, and events of the group. */
bool pressure_judge(struct pressure *pressure, uint64_t rss, uint64_t events,
		    char name[SNAPSHOT_NAME_MAX]);

#endif
