/*
 * options.h: the options of a recording, in one table. The library reads them
 * from variables of the environment, the command from its command line; the
 * command's help and manual are made from the same table.
 *
 * Usable from the freestanding library and from the command: it needs only
 * mem* and str* functions. No state; any thread.
 */
#ifndef GNOMON_OPTIONS_H
#define GNOMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define OPTIONS_TEXT_MAX 4096	/* PATH_MAX: longest value that is a path */
#define OPTIONS_TEXTS 32768	/* bytes of all of them */
#define OPTIONS_VARIABLE_MAX 64

/* A variable that names the command: `gnomon run` sets it, so that the library
 * finds it. */
#define OPTIONS_COMMAND "GNOMON_COMMAND"

/*
 * X(id, name, letter, type, value, bare, fallback, help)
 *   name      of the option; the variable is GNOMON_ and the name in upper
 *             case, with _ for -
 *   letter    short option of the command, 0 for none
 *   value     how the value is written in help, NULL for a switch; for
 *             OPTION_CHOICE the words, separated by |; "[=SIZE]" where it may
 *             be left out
 *   bare      what holds where the option is given without its value
 *   fallback  what holds where nothing is given
 */
#define OPTIONS(X)                                                          \
	X(OUTPUT, "output", 'o', OPTION_PATH, "FILE", NULL,                 \
	  "gnomon.%e.%p.trace",                                             \
	  "write the trace to FILE; %p is the pid, %t the time in unix "    \
	  "seconds, %e the program, %n a counter, %h the host, %% a "       \
	  "percent sign; without %p a child's trace is FILE.PID")           \
	X(FORCE, "force", 'f', OPTION_SWITCH, NULL, NULL, "0",              \
	  "overwrite an existing trace")                                    \
	X(SHADOW_STACK, "shadow-stack", 0, OPTION_CHOICE,                   \
	  "auto|validate|off", NULL, "auto",                                \
	  "how stacks are taken: auto and validate compare remembered "     \
	  "stacks word by word and walk what differs, off walks each "      \
	  "stack in full")                                                  \
	X(OVERFLOW, "overflow", 0, OPTION_CHOICE, "wait|drop", NULL, "wait", \
	  "what a thread does when its ring is full: wait for the writer, " \
	  "or drop events and count them")                                  \
	X(MEMORY, "memory", 0, OPTION_SIZE, "SIZE", NULL, "256M",           \
	  "all memory of the recorder in the target (8M to 64G)")           \
	X(RING, "ring", 0, OPTION_SIZE, "SIZE", NULL, "64k",                \
	  "first size of a thread's ring (4k to 4M); it grows when the "    \
	  "thread has to wait")                                             \
	X(FOLLOW, "follow", 0, OPTION_CHOICE, "none|fork|exec|all", NULL,   \
	  "all",                                                            \
	  "which children are recorded as well: those that go on by fork "  \
	  "as the same program, those that exec another one, all or none")  \
	X(MAPS, "maps", 0, OPTION_CHOICE, "on|off", NULL, "on",             \
	  "record what is mapped: mmap and its kin with their stacks, and " \
	  "what the C library and the loader map inside of theirs")         \
	X(FREE_STACKS, "free-stacks", 0, OPTION_SWITCH, NULL, NULL, "0",    \
	  "record the call stack of every free and realloc, too: the report " \
	  "then tells who frees what; a free costs as much as an allocation " \
	  "then")                                                           \
	X(SAMPLE, "sample", 0, OPTION_SIZE, "[=SIZE]", "512k", "none",      \
	  "record a sample: one block in about SIZE allocated bytes, large " \
	  "ones more often (1 to 4095M). All figures are estimates then, "  \
	  "without bias; the rest of the program runs as if nothing were "  \
	  "recorded")                                                       \
	X(MIN_SIZE, "min-size", 0, OPTION_SIZE, "SIZE", NULL, "0",          \
	  "record only blocks of SIZE bytes or more; the smaller ones are " \
	  "counted by their sizes")                                         \
	X(MAX_SIZE, "max-size", 0, OPTION_SIZE, "SIZE", NULL, "all",        \
	  "record only blocks of SIZE bytes or less; the larger ones are "  \
	  "counted by their sizes")                                         \
	X(DEPTH, "depth", 0, OPTION_NUMBER, "N", NULL, "all",               \
	  "keep only the innermost N frames of each stack (1 to 4096); 0: " \
	  "totals and sizes only, without stacks and events")               \
	X(LIVE_DIR, "live-dir", 0, OPTION_PATH, "DIR", NULL, "",            \
	  "directory of the live file, which keeps the last events when "   \
	  "everything is killed at once; without it, /dev/shm if half of "  \
	  "what is free there holds half of --memory, else beside the "     \
	  "trace; where it cannot be made, events are kept in the "         \
	  "program's memory only, which is said")                           \
	X(OFF, "off", 0, OPTION_SWITCH, NULL, NULL, "0",                    \
	  "record nothing until a start is asked for: by gnomon start, a "  \
	  "signal, or the program itself")                                  \
	X(DELAY, "delay", 0, OPTION_TIME, "TIME", NULL, "none",             \
	  "start by itself so long after the program (10s, 1h2m)")          \
	X(SIGNAL, "signal", 0, OPTION_LIST, "NAME=ACTION", NULL, "",        \
	  "what to do when a signal comes (USR1=toggle, RTMIN+1=clear): "   \
	  "toggle: start or stop, snapshot, report, clear; only for one "   \
	  "that the program does not handle itself; may be given again. "   \
	  "toggle and clear hold from the moment of the signal, the others " \
	  "from some milliseconds later, when the recorder looks. A "       \
	  "program that asks sigaction() sees the recorder's handler, and "  \
	  "its sleeps end early (EINTR), as by any signal")                  \
	X(DURATION, "duration", 0, OPTION_TIME, "TIME", NULL, "none",       \
	  "stop so long after each start; the program goes on")             \
	X(SNAPSHOT_EVERY, "snapshot-every", 0, OPTION_TIME, "TIME", NULL,   \
	  "none",                                                           \
	  "note all mappings, and what the allocator of a program that has " \
	  "no threads holds, at this interval (250ms, 10s, 1h2m), not only " \
	  "at the end")                                                     \
	X(SNAPSHOT_AT, "snapshot-at", 0, OPTION_LIST, "RSS=SIZE", NULL, "", \
	  "the same when so much is resident; RSS=80% is a part of the "    \
	  "limit of the control group, or of the machine's memory; may be " \
	  "given again. One is also taken each time the group comes to its " \
	  "limit")                                                          \
	X(NO_POOLS, "no-pools", 0, OPTION_SWITCH, NULL, NULL, "0",          \
	  "have libraries that keep pools of their own use malloc: sets "   \
	  "GLIBCXX_FORCE_NEW, PYTHONMALLOC=malloc and G_SLICE=always-malloc, " \
	  "where they are not set already")                                 \
	X(CHOWN, "chown", 0, OPTION_TEXT, "USER", NULL, "",                 \
	  "give the trace to USER, USER:GROUP or :GROUP, names or numbers") \
	X(LOG, "log", 0, OPTION_CHOICE, "off|error|warn|info|debug", NULL,  \
	  "off",                                                            \
	  "say what the recorder does, up to this level, on standard error " \
	  "or in --log-file")                                               \
	X(LOG_FILE, "log-file", 0, OPTION_PATH, "FILE", NULL, "",           \
	  "where --log appends its lines; processes may share it")          \
	X(LOG_FILE_MAX, "log-file-max", 0, OPTION_SIZE, "SIZE", NULL, "16M", \
	  "a log file of this size becomes FILE.1, in place of the one before") \
	X(REPORT, "report", 0, OPTION_PATH, "[=FILE]", "", "",              \
	  "when the program ends, print the report of its trace on standard " \
	  "error, where it is nothing if nothing is live, or add it to FILE") \
	X(SORT, "sort", 0, OPTION_LIST, "KEY", NULL, "",                    \
	  "of that report, only the table sorted by KEY, as of `gnomon "    \
	  "report`; may be given again, for a table each")                  \
	X(TOP, "top", 0, OPTION_NUMBER, "N", NULL, "10",                    \
	  "rows of that report's tables, 0 for all")                        \
	X(FLAMEGRAPH, "flamegraph", 0, OPTION_SWITCH, NULL, NULL, "0",      \
	  "in place of that report, folded stacks with their live bytes, for " \
	  "flame graphs")                                                   \
	X(GUARD, "guard", 0, OPTION_SIZE, "SIZE", NULL, "0",                \
	  "lay SIZE bytes (at most 1M) before and behind each block, and "  \
	  "look at free, realloc and the end whether they were written to; " \
	  "a header before each block makes it known in a core dump")       \
	X(CULL, "cull", 0, OPTION_TIME, "[=TIME]", "10s", "none",           \
	  "leave blocks out of the trace that live shorter than TIME; "     \
	  "their totals are kept, and the peak is exact")                   \
	X(CULL_PENDING, "cull-pending", 0, OPTION_NUMBER, "N", NULL,        \
	  "65536",                                                          \
	  "at most N events wait for that (64 to 1048576); where there are "\
	  "more, the oldest stay in the trace")                             \
	X(LIMIT, "limit", 0, OPTION_SIZE, "SIZE", NULL, "none",             \
	  "keep the newest parts of the trace within SIZE (at least 1M): "  \
	  "FILE is the newest, FILE.partN are those before it; each reads " \
	  "alone, with the totals and live blocks of what came before")     \
	X(STATS_EVERY, "stats-every", 0, OPTION_TIME, "TIME", NULL, "none", \
	  "append a line of figures to FILE.stats, beside the trace, at "   \
	  "this interval (at least 10ms); behind the figures are the blocks " \
	  "of each size class, ever allocated and live")                    \
	X(ZERO_MEMORY, "zero-memory", 0, OPTION_SWITCH, NULL, NULL, "0",    \
	  "fill what malloc, realloc and their kin give with zeroes")      \
	X(EMBED, "embed", 0, OPTION_CHOICE, "none|debug|full", NULL, "debug", \
	  "what of the program's files that stacks go through becomes part " \
	  "of the trace, so that it can be read where they are not: their " \
	  "symbols, unwind and line tables, or the whole files too. Not "  \
	  "given: debug, of programs that run for a second or more")       \
	X(INCLUDE, "include", 0, OPTION_LIST, "GLOB", NULL, "",             \
	  "put files with such paths into the trace, as they are at the "  \
	  "program's start; may be given again")

enum option_type {
	OPTION_TEXT,
	OPTION_PATH,	/* the command makes it absolute */
	OPTION_LIST,	/* texts; given again, it is joined with a comma */
	OPTION_SIZE,
	OPTION_TIME,
	OPTION_NUMBER,
	OPTION_CHOICE,
	OPTION_SWITCH
};

enum option_id {
#define OPTIONS_ID(id, ...) OPTION_##id,
	OPTIONS(OPTIONS_ID)
#undef OPTIONS_ID
	OPTION_COUNT
};

struct option_entry {
	const char *name;
	int letter;
	enum option_type type;
	const char *value;
	const char *bare;
	const char *fallback;
	const char *help;
};

extern const struct option_entry options_table[OPTION_COUNT];

/* Words of the choices, in the order of the table. */
enum { OPTION_SHADOW_AUTO, OPTION_SHADOW_VALIDATE, OPTION_SHADOW_OFF };
enum { OPTION_MAPS_ON, OPTION_MAPS_OFF };
enum { OPTION_EMBED_NONE, OPTION_EMBED_DEBUG, OPTION_EMBED_FULL };
enum {
	OPTION_FOLLOW_NONE,
	OPTION_FOLLOW_FORK,
	OPTION_FOLLOW_EXEC,
	OPTION_FOLLOW_ALL
};
enum {
	OPTION_LOG_OFF,
	OPTION_LOG_ERROR,
	OPTION_LOG_WARN,
	OPTION_LOG_INFO,
	OPTION_LOG_DEBUG
};
enum { OPTION_OVERFLOW_WAIT, OPTION_OVERFLOW_DROP };

#define OPTIONS_MEMORY_MIN (UINT64_C(8) << 20)
#define OPTIONS_MEMORY_MAX (UINT64_C(64) << 30)
#define OPTIONS_RING_MIN (UINT64_C(4) << 10)
#define OPTIONS_RING_MAX (UINT64_C(4) << 20)
#define OPTIONS_SNAPSHOT_MIN (UINT64_C(10) * 1000000)	/* ns */
#define OPTIONS_TIME_MAX (UINT64_C(366) * 86400 * 1000000000)
#define OPTIONS_STATS_MIN (UINT64_C(10) * 1000000)	/* ns */
#define OPTIONS_LIMIT_MIN (UINT64_C(1) << 20)
#define OPTIONS_PENDING_MIN 64
#define OPTIONS_PENDING_MAX (1u << 20)
#define OPTIONS_BARRIER_MAX 1000
#define OPTIONS_SAMPLE_MAX UINT64_C(0xffffffff)
#define OPTIONS_DEPTH_MAX 4096
#define OPTIONS_GUARD_MAX (UINT64_C(1) << 20)

struct options {
	bool given[OPTION_COUNT];
	/* OPTION_SIZE: bytes; OPTION_TIME: ns, 0 for none; OPTION_NUMBER;
	 * OPTION_CHOICE: index of the word; OPTION_SWITCH: 0 or 1. A word that
	 * the table has as the fallback of a size or number: UINT64_MAX, but
	 * for "none", which is 0. */
	uint64_t number[OPTION_COUNT];
	uint32_t text_at[OPTION_COUNT];	/* in texts; 0: "" */
	uint32_t texts_used;
	bool oracle;		/* GNOMON_DEBUG_ORACLE=1 */
	uint64_t seed;		/* GNOMON_DEBUG_SEED, 0: not given */
	uint32_t barrier_near;	/* GNOMON_DEBUG_BARRIER, 0: not given */
	char texts[OPTIONS_TEXTS];	/* the first is that which is none */
};

/* Of an OPTION_TEXT, OPTION_PATH or OPTION_LIST; "" for none. */
static inline const char *options_text(const struct options *options,
				       enum option_id id)
{
	return options->texts + options->text_at[id];
}

/* Everything as if nothing were given. */
void options_default(struct options *options);

/* Sets one option; `value` NULL: it was given without. -EINVAL: not a value of
 * this option, -ERANGE: outside its limits; *options is then as before. */
int options_set(struct options *options, enum option_id id,
		const char *value);

/* "64k", "1.5M", "2G": powers of 1024. 0 or -EINVAL. */
int options_size(const char *text, uint64_t *bytes);

/* "250ms", "1.5s", "1h2m", "none" (0). 0 or -EINVAL. */
int options_time(const char *text, uint64_t *ns);

/* Variables of NO_POOLS, as in an environment. NULL-terminated. */
extern const char *const options_no_pools[];

/* What SNAPSHOT_AT has: bytes, or, if that is 0, parts of a limit. */
struct options_rss {
	uint64_t bytes, millionths;
};
#define OPTIONS_RSS_MAX 16

/* "RSS=64M,RSS=80%". How many there are, or -EINVAL. */
int options_rss_list(const char *text,
		     struct options_rss list[OPTIONS_RSS_MAX]);

/* The name of the variable of this option. */
void options_variable(enum option_id id, char name[OPTIONS_VARIABLE_MAX]);

/*
 * Takes every GNOMON_… variable of the table out of an environment (strings
 * "NAME=value", ended by NULL). 0, or the error of the first bad one, with
 * its string in *bad. Variables that the table does not know are left alone:
 * they belong to the command.
 */
int options_environment(struct options *options, char *const *environment,
			const char **bad);

#endif
