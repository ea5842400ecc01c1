/*
 * pressure.c: see pressure.h.
 *
 * A level triggers once, and again only after memory fell 1/PRESSURE_FALL below
 * it: so memory that varies around a level does not trigger a snapshot each
 * time.
 *
 * The group is searched again every PRESSURE_SEEK_NS: a process may move to
 * another group, and limits may change. The target's entry in /proc is read,
 * and the recorder's own only if /proc does not know the target's pid.
 */
#include "cli/recorder/memory/pressure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recorder/base/proc_file.h"
#include "cli/recorder/base/recording.h"
#include "unwind/base/assertion.h"

#define PRESSURE_LOOK_NS (100 * UINT64_C(1000000))
#define PRESSURE_SEEK_NS (1000 * UINT64_C(1000000))
#define PRESSURE_FALL 16	/* fraction of the level */
#define PRESSURE_MILLION UINT64_C(1000000)
#define PRESSURE_TEXT_MAX 8192

void pressure_init(struct pressure *pressure, int pid)
{
	memset(pressure, 0, sizeof(*pressure));
	pressure->pid = pid;
	pressure->page_bytes = sysconf(_SC_PAGESIZE);
	pressure->levels = options_rss_list(
		options_text(recording_options, OPTION_SNAPSHOT_AT),
		pressure->level);
}

/* Bytes of memory of the machine. */
static uint64_t pressure_machine(void)
{
	static const char key[] = "MemTotal:";	/* the first line */
	char text[256];

	if (proc_file_read("/proc/meminfo", text, sizeof(text)) <= 0 ||
	    strncmp(text, key, sizeof(key) - 1) != 0)
		return 0;
	return strtoull(text + sizeof(key) - 1, NULL, 10) << 10;
}

void pressure_group(struct pressure *pressure, const char *root,
		    const char *lines)
{
	struct cgroup group;

	pressure->found = cgroup_find(&group, root, lines);
	if (!pressure->found)
		return;
	if (strcmp(group.dir, pressure->cgroup.dir) != 0)
		pressure->counted = false;
	pressure->cgroup = group;
}

static void pressure_seek(struct pressure *pressure, uint64_t now_ns)
{
	char text[PRESSURE_TEXT_MAX];
	uint64_t limit = 0;

	if (pressure->found_ns && now_ns - pressure->found_ns <
					  PRESSURE_SEEK_NS)
		return;
	pressure->found_ns = now_ns;
	pressure->found = false;
	if (proc_file_read_of(pressure->pid, "cgroup", text,
			      sizeof(text)) > 0 ||
	    proc_file_read("/proc/thread-self/cgroup", text, sizeof(text)) > 0)
		pressure_group(pressure, CGROUP_ROOT, text);
	if (pressure->found)
		limit = cgroup_limit(&pressure->cgroup);
	pressure->limit = limit ? limit : pressure_machine();
}

static uint64_t pressure_level(const struct pressure *pressure, unsigned i)
{
	const struct options_rss *level = &pressure->level[i];

	if (level->bytes)
		return level->bytes;
	return pressure->limit / PRESSURE_MILLION * level->millionths;
}

/* The text of a level in the option, which separates levels by commas. */
static void pressure_name(unsigned i, char name[SNAPSHOT_NAME_MAX])
{
	const char *at = options_text(recording_options, OPTION_SNAPSHOT_AT);

	while (i)
		i -= *at++ == ',';
	snprintf(name, SNAPSHOT_NAME_MAX, "%.*s", (int)strcspn(at, ","), at);
}

bool pressure_is_high(struct pressure *pressure, uint64_t rss, uint64_t events,
		      char name[SNAPSHOT_NAME_MAX])
{
	unsigned i;

	DEBUG_ASSERT(pressure->levels <= OPTIONS_RSS_MAX);
	for (i = 0; i < pressure->levels; i++) {
		uint64_t level = pressure_level(pressure, i);

		if (rss + level / PRESSURE_FALL < level)
			pressure->passed &= ~(1u << i);
		if (!level || rss < level || pressure->passed & 1u << i)
			continue;
		pressure->passed |= 1u << i;
		pressure_name(i, name);
		return true;
	}
	if (events == pressure->events)
		return false;
	pressure->events = events;
	snprintf(name, SNAPSHOT_NAME_MAX, "memory.events");
	return true;
}

static uint64_t pressure_rss(const struct pressure *pressure)
{
	char text[256], *resident;

	if (proc_file_read_of(pressure->pid, "statm", text, sizeof(text)) <= 0)
		return 0;
	resident = strchr(text, ' ');
	return resident ? strtoull(resident, NULL, 10) *
				  pressure->page_bytes : 0;
}

bool pressure_poll(struct pressure *pressure, uint64_t now_ns,
		   char name[SNAPSHOT_NAME_MAX])
{
	uint64_t events = pressure->events;

	if (now_ns < pressure->due_ns)
		return false;
	pressure->due_ns = now_ns + PRESSURE_LOOK_NS;
	pressure_seek(pressure, now_ns);
	if (pressure->found &&
	    cgroup_events(&pressure->cgroup, &events) && !pressure->counted) {
		/* events from before the recording do not count */
		pressure->counted = true;
		pressure->events = events;
	}
	return pressure_is_high(pressure,
				pressure->levels ? pressure_rss(pressure) : 0,
				events, name);
}
