/* option_help.c: see option_help.h. */
#include "cli/command/option_help.h"

#include <stddef.h>

const struct option_help option_help[OPTION_COUNT] = {
	[OPTION_OUTPUT] = { "output", 'o', "FILE", NULL,
		"write the trace to FILE; %p is the pid, %t the time in unix "
		"seconds, %e the program, %n a counter, %h the host, %% a "
		"percent sign; without %p a child's trace is FILE.PID" },
	[OPTION_FORCE] = { "force", 'f', NULL, NULL,
		"overwrite an existing trace" },
	[OPTION_SHADOW_STACK] = { "shadow-stack", 0, NULL, NULL,
		"how stacks are taken: auto and validate compare remembered "
		"stacks word by word and walk what differs, off walks each "
		"stack in full" },
	[OPTION_OVERFLOW] = { "overflow", 0, NULL, NULL,
		"what a thread does when its ring is full: wait for the writer, "
		"or drop events and count them" },
	[OPTION_MEMORY] = { "memory", 0, "SIZE", NULL,
		"all memory of the recorder in the target (8M to 64G)" },
	[OPTION_RING] = { "ring", 0, "SIZE", NULL,
		"first size of a thread's ring (4k to 4M); it grows when the "
		"thread has to wait" },
	[OPTION_FOLLOW] = { "follow", 0, NULL, NULL,
		"which children are recorded as well: those that go on by fork "
		"as the same program, those that exec another one, all or none" },
	[OPTION_MAPS] = { "maps", 0, NULL, NULL,
		"record what is mapped: mmap and its kin with their stacks, and "
		"what the C library and the loader map inside of theirs" },
	[OPTION_FREE_STACKS] = { "free-stacks", 0, NULL, NULL,
		"record the call stack of every free and realloc, too: the report "
		"then tells who frees what; a free costs as much as an allocation "
		"then" },
	[OPTION_SAMPLE] = { "sample", 0, "[=SIZE]", "512k",
		"record a sample: one block in about SIZE allocated bytes, large "
		"ones more often (1 to 4095M). All figures are estimates then, "
		"without bias; the rest of the program runs as if nothing were "
		"recorded" },
	[OPTION_MIN_SIZE] = { "min-size", 0, "SIZE", NULL,
		"record only blocks of SIZE bytes or more; the smaller ones are "
		"counted by their sizes" },
	[OPTION_MAX_SIZE] = { "max-size", 0, "SIZE", NULL,
		"record only blocks of SIZE bytes or less; the larger ones are "
		"counted by their sizes" },
	[OPTION_DEPTH] = { "depth", 0, "N", NULL,
		"keep only the innermost N frames of each stack (1 to 4096); 0: "
		"totals and sizes only, without stacks and events" },
	[OPTION_LIVE_DIR] = { "live-dir", 0, "DIR", NULL,
		"directory of the live file, which keeps the last events when "
		"everything is killed at once; without it, /dev/shm if half of "
		"what is free there holds half of --memory, else beside the "
		"trace; where it cannot be made, events are kept in the "
		"program's memory only, which is said" },
	[OPTION_OFF] = { "off", 0, NULL, NULL,
		"record nothing until a start is asked for: by gnomon start, a "
		"signal, or the program itself" },
	[OPTION_DELAY] = { "delay", 0, "TIME", NULL,
		"start by itself so long after the program (10s, 1h2m)" },
	[OPTION_SIGNAL] = { "signal", 0, "NAME=ACTION", NULL,
		"what to do when a signal comes (USR1=toggle, RTMIN+1=clear): "
		"toggle: start or stop, snapshot, report, clear; only for one "
		"that the program does not handle itself; may be given again. "
		"toggle and clear hold from the moment of the signal, the others "
		"from some milliseconds later, when the recorder looks. A "
		"program that asks sigaction() sees the recorder's handler, and "
		"its sleeps end early (EINTR), as by any signal" },
	[OPTION_DURATION] = { "duration", 0, "TIME", NULL,
		"stop so long after each start; the program goes on" },
	[OPTION_SNAPSHOT_EVERY] = { "snapshot-every", 0, "TIME", NULL,
		"note all mappings, and what the allocator of a program that has "
		"no threads holds, at this interval (250ms, 10s, 1h2m), not only "
		"at the end" },
	[OPTION_SNAPSHOT_AT] = { "snapshot-at", 0, "RSS=SIZE", NULL,
		"the same when so much is resident; RSS=80% is a part of the "
		"limit of the control group, or of the machine's memory; may be "
		"given again. One is also taken each time the group comes to its "
		"limit" },
	[OPTION_NO_POOLS] = { "no-pools", 0, NULL, NULL,
		"have libraries that keep pools of their own use malloc: sets "
		"GLIBCXX_FORCE_NEW, PYTHONMALLOC=malloc and G_SLICE=always-malloc, "
		"where they are not set already" },
	[OPTION_CHOWN] = { "chown", 0, "USER", NULL,
		"give the trace to USER, USER:GROUP or :GROUP, names or numbers" },
	[OPTION_LOG] = { "log", 0, NULL, NULL,
		"say what the recorder does, up to this level, on standard error "
		"or in --log-file" },
	[OPTION_LOG_FILE] = { "log-file", 0, "FILE", NULL,
		"where --log appends its lines; processes may share it" },
	[OPTION_LOG_FILE_MAX] = { "log-file-max", 0, "SIZE", NULL,
		"a log file of this size becomes FILE.1, in place of the one before" },
	[OPTION_REPORT] = { "report", 0, "[=FILE]", "",
		"when the program ends, print the report of its trace on standard "
		"error, where it is nothing if nothing is live, or add it to FILE" },
	[OPTION_SORT] = { "sort", 0, "KEY", NULL,
		"of that report, only the table sorted by KEY, as of `gnomon "
		"report`; may be given again, for a table each" },
	[OPTION_TOP] = { "top", 0, "N", NULL,
		"rows of that report's tables, 0 for all" },
	[OPTION_FLAMEGRAPH] = { "flamegraph", 0, NULL, NULL,
		"in place of that report, folded stacks with their live bytes, for "
		"flame graphs" },
	[OPTION_GUARD] = { "guard", 0, "SIZE", NULL,
		"lay SIZE bytes (at most 1M) before and behind each block, and "
		"look at free, realloc and the end whether they were written to; "
		"a header before each block makes it known in a core dump" },
	[OPTION_CULL] = { "cull", 0, "[=TIME]", "10s",
		"leave blocks out of the trace that live shorter than TIME; "
		"their totals are kept, and the peak is exact" },
	[OPTION_CULL_PENDING] = { "cull-pending", 0, "N", NULL,
		"at most N events wait for that (64 to 1048576); where there are "
		"more, the oldest stay in the trace" },
	[OPTION_LIMIT] = { "limit", 0, "SIZE", NULL,
		"keep the newest parts of the trace within SIZE (at least 1M): "
		"FILE is the newest, FILE.partN are those before it; each reads "
		"alone, with the totals and live blocks of what came before" },
	[OPTION_STATS_EVERY] = { "stats-every", 0, "TIME", NULL,
		"append a line of figures to FILE.stats, beside the trace, at "
		"this interval (at least 10ms); behind the figures are the blocks "
		"of each size class, ever allocated and live" },
	[OPTION_ZERO_MEMORY] = { "zero-memory", 0, NULL, NULL,
		"fill what malloc, realloc and their kin give with zeroes" },
	[OPTION_EMBED] = { "embed", 0, NULL, NULL,
		"what of the program's files that stacks go through becomes part "
		"of the trace, so that it can be read where they are not: their "
		"symbols, unwind and line tables, or the whole files too. Not "
		"given: debug, of programs that run for a second or more" },
	[OPTION_INCLUDE] = { "include", 0, "GLOB", NULL,
		"put files with such paths into the trace, as they are at the "
		"program's start; may be given again" },
	[OPTION_CFI_DIR] = { "cfi-dir", 0, "DIR", NULL,
		"take unwind rules of code that has none from the files of DIR, "
		"as `gnomon cfi prepare` makes them; gnomon run makes those that "
		"are missing there. Not given: gnomon run does so in "
		"$XDG_CACHE_HOME/gnomon/cfi" },
};
