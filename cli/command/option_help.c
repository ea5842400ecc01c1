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
		"how stacks are captured: auto and validate compare the stack "
		"with the thread's last one and unwind only the frames that "
		"differ; auto also replaces return addresses in deep stacks, "
		"so that fewer frames are compared; off unwinds each stack in "
		"full" },
	[OPTION_OVERFLOW] = { "overflow", 0, NULL, NULL,
		"what a thread does when its ring is full: wait for the "
		"recorder, or drop events and count them" },
	[OPTION_MEMORY] = { "memory", 0, "SIZE", NULL,
		"limit of the memory that gnomon uses in the program (8M to "
		"64G)" },
	[OPTION_RING] = { "ring", 0, "SIZE", NULL,
		"initial size of a thread's ring (4k to 4M); it grows when the "
		"thread has to wait" },
	[OPTION_FOLLOW] = { "follow", 0, NULL, NULL,
		"which children to record: those that fork and stay the same "
		"program, those that exec another program, all or none" },
	[OPTION_MAPS] = { "maps", 0, NULL, NULL,
		"record mappings: calls of mmap, munmap and the like with "
		"their stacks, and what the C library and the loader map "
		"internally" },
	[OPTION_FREE_STACKS] = { "free-stacks", 0, NULL, NULL,
		"also record the call stack of every free and realloc, so that "
		"reports show who frees; a free then costs as much as an "
		"allocation" },
	[OPTION_SAMPLE] = { "sample", 0, "[=SIZE]", "512k",
		"record a random sample: on average one block for each SIZE "
		"bytes allocated, so large blocks are more likely to be in it "
		"(1 to 4095M). All measures are then unbiased estimates" },
	[OPTION_MIN_SIZE] = { "min-size", 0, "SIZE", NULL,
		"record only blocks of SIZE bytes or more; smaller ones are "
		"only counted, by size" },
	[OPTION_MAX_SIZE] = { "max-size", 0, "SIZE", NULL,
		"record only blocks of SIZE bytes or less; larger ones are "
		"only counted, by size" },
	[OPTION_DEPTH] = { "depth", 0, "N", NULL,
		"keep only the innermost N frames of each stack (1 to 4096); "
		"0: only totals and histograms of sizes and lifetimes, no "
		"stacks, no single blocks" },
	[OPTION_LIVE_DIR] = { "live-dir", 0, "DIR", NULL,
		"directory of the live file, in which the last events survive "
		"if the program and its recorder are killed together. Default: "
		"/dev/shm, if the file takes at most half of its free space, "
		"else the trace's directory. If the file cannot be created, a "
		"warning is printed and events are kept in memory only" },
	[OPTION_OFF] = { "off", 0, NULL, NULL,
		"record nothing until a start is requested: by gnomon start, a "
		"signal, or the program itself" },
	[OPTION_DELAY] = { "delay", 0, "TIME", NULL,
		"start recording this long after the program's start (10s, "
		"1h2m)" },
	[OPTION_SIGNAL] = { "signal", 0, "NAME=ACTION", NULL,
		"action on a signal (USR1=toggle, RTMIN+1=clear): toggle "
		"(start or stop), snapshot, report or clear; only for a signal "
		"that the program does not handle itself; may be repeated. "
		"toggle and clear take effect at the signal, snapshot and "
		"report some milliseconds later in the recorder. sigaction() "
		"shows the recorder's handler to the program, and the signal "
		"interrupts sleeps (EINTR)" },
	[OPTION_DURATION] = { "duration", 0, "TIME", NULL,
		"stop this long after each start; the program continues" },
	[OPTION_SNAPSHOT_EVERY] = { "snapshot-every", 0, "TIME", NULL,
		"take a snapshot at this interval (250ms, 10s, 1h2m), and at "
		"the end: the resident memory of each mapping and, in a "
		"program with one thread, the sizes of glibc's heap" },
	[OPTION_SNAPSHOT_AT] = { "snapshot-at", 0, "RSS=SIZE", NULL,
		"take a snapshot when this much memory is resident; RSS=80% is "
		"a share of the control group's limit, or of the machine's "
		"memory; may be repeated. A snapshot is also taken each time "
		"the group reaches its limit" },
	[OPTION_NO_POOLS] = { "no-pools", 0, NULL, NULL,
		"make libraries with memory pools of their own use malloc: "
		"sets GLIBCXX_FORCE_NEW, PYTHONMALLOC=malloc and "
		"G_SLICE=always-malloc, unless they are set already" },
	[OPTION_CHOWN] = { "chown", 0, "USER", NULL,
		"change the trace's owner to USER, USER:GROUP or :GROUP, names "
		"or numbers" },
	[OPTION_LOG] = { "log", 0, NULL, NULL,
		"log what the recorder does, up to this level, to standard "
		"error or --log-file" },
	[OPTION_LOG_FILE] = { "log-file", 0, "FILE", NULL,
		"append the log to FILE; several processes may share it" },
	[OPTION_LOG_FILE_MAX] = { "log-file-max", 0, "SIZE", NULL,
		"rename the log file to FILE.1 at this size, replacing the old "
		"FILE.1" },
	[OPTION_REPORT] = { "report", 0, "[=FILE]", "",
		"when the program ends, print the report of its trace on "
		"standard error (nothing if no block is live), or append it to "
		"FILE" },
	[OPTION_SORT] = { "sort", 0, "KEY", NULL,
		"in that report, print only the table sorted by KEY, as in "
		"`gnomon report`; may be repeated, one table for each" },
	[OPTION_TOP] = { "top", 0, "N", NULL,
		"rows in each table of that report, 0 for all" },
	[OPTION_FLAMEGRAPH] = { "flamegraph", 0, NULL, NULL,
		"instead of that report, print folded stacks with their live "
		"bytes, for flame graphs" },
	[OPTION_GUARD] = { "guard", 0, "SIZE", NULL,
		"put SIZE guard bytes (at most 1M) before and after each "
		"block, and check at free, realloc and exit whether they were "
		"overwritten; a header before each block identifies it in a "
		"core dump" },
	[OPTION_CULL] = { "cull", 0, "[=TIME]", "10s",
		"leave blocks that live less than TIME out of the trace; "
		"totals still count them, and the peak stays exact" },
	[OPTION_CULL_PENDING] = { "cull-pending", 0, "N", NULL,
		"hold back at most N events for --cull (64 to 1048576); beyond "
		"that, the oldest are written to the trace" },
	[OPTION_LIMIT] = { "limit", 0, "SIZE", NULL,
		"write the trace in parts and delete the oldest when all parts "
		"take SIZE (at least 1M): FILE is the newest, FILE.partN the "
		"parts before it; each part can be read alone and has the "
		"totals and live blocks from before it" },
	[OPTION_STATS_EVERY] = { "stats-every", 0, "TIME", NULL,
		"append a line of statistics to FILE.stats, next to the trace, "
		"at this interval (at least 10ms), followed by the total and "
		"live blocks of each size class" },
	[OPTION_ZERO_MEMORY] = { "zero-memory", 0, NULL, NULL,
		"fill memory from malloc, realloc and the like with zeroes" },
	[OPTION_EMBED] = { "embed", 0, NULL, NULL,
		"what to embed in the trace, so that it can be read without "
		"the program's files: nothing; symbols, unwind and line tables "
		"(debug); or whole files (full), of the files that occur in "
		"stacks. Default: debug, for programs that run for a second or "
		"more" },
	[OPTION_INCLUDE] = { "include", 0, "GLOB", NULL,
		"embed files with matching paths in the trace, as they are at "
		"the program's start; may be repeated" },
	[OPTION_CFI_DIR] = { "cfi-dir", 0, "DIR", NULL,
		"read unwind rules for code without unwind tables from DIR, "
		"from files as `gnomon cfi prepare` makes them; gnomon run "
		"adds missing files. Default: gnomon run uses "
		"$XDG_CACHE_HOME/gnomon/cfi" },
};
