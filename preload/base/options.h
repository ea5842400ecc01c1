/*
 * options.h: the table of recording options, and how their values are parsed.
 * The library and the recorder read them from environment variables, the
 * command also from its command line. The help texts are in
 * cli/command/option_help.h; checks beyond the syntax, and between options, in
 * cli/command/options_check.h.
 *
 * Usable from the freestanding library and from the command: needs only mem*
 * and str* functions. No state; any thread.
 */
#ifndef GNOMON_OPTIONS_H
#define GNOMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define OPTIONS_TEXT_MAX 4096	/* PATH_MAX: longest value that is a path */
#define OPTIONS_TEXTS 32768	/* bytes of all texts */

/* Environment variable with the path of the command: `gnomon run` sets it for
 * the library. */
#define OPTIONS_COMMAND "GNOMON_COMMAND"

/* Environment variable with the directory in which an emulator first looks for
 * files that its program opens: `gnomon run` sets it. */
#define OPTIONS_EMULATOR_ROOT "GNOMON_EMULATOR_ROOT"

/*
 * X(id, type, words, fallback)
 *   id        also names the variable: GNOMON_ and the id
 *   words     of an OPTION_CHOICE, separated by |; else NULL
 *   fallback  the value if the option is not given
 */
#define OPTIONS(X)                                                          \
	X(OUTPUT, OPTION_PATH, NULL, "gnomon.%e.%p.trace")                  \
	X(FORCE, OPTION_SWITCH, NULL, "0")                                  \
	X(SHADOW_STACK, OPTION_CHOICE, "auto|validate|off", "auto")         \
	X(OVERFLOW, OPTION_CHOICE, "wait|drop", "wait")                     \
	X(MEMORY, OPTION_SIZE, NULL, "256M")                                \
	X(RING, OPTION_SIZE, NULL, "64k")                                   \
	X(FOLLOW, OPTION_CHOICE, "none|fork|exec|all", "all")               \
	X(MAPS, OPTION_CHOICE, "on|off", "on")                              \
	X(FREE_STACKS, OPTION_SWITCH, NULL, "0")                            \
	X(SAMPLE, OPTION_SIZE, NULL, "none")                                \
	X(MIN_SIZE, OPTION_SIZE, NULL, "0")                                 \
	X(MAX_SIZE, OPTION_SIZE, NULL, "all")                               \
	X(DEPTH, OPTION_NUMBER, NULL, "all")                                \
	X(LIVE_DIR, OPTION_PATH, NULL, "")                                  \
	X(OFF, OPTION_SWITCH, NULL, "0")                                    \
	X(DELAY, OPTION_TIME, NULL, "none")                                 \
	X(SIGNAL, OPTION_LIST, NULL, "")                                    \
	X(DURATION, OPTION_TIME, NULL, "none")                              \
	X(SNAPSHOT_EVERY, OPTION_TIME, NULL, "none")                        \
	X(SNAPSHOT_AT, OPTION_LIST, NULL, "")                               \
	X(NO_POOLS, OPTION_SWITCH, NULL, "0")                               \
	X(CHOWN, OPTION_TEXT, NULL, "")                                     \
	X(LOG, OPTION_CHOICE, "off|error|warn|info|debug", "off")           \
	X(LOG_FILE, OPTION_PATH, NULL, "")                                  \
	X(LOG_FILE_MAX, OPTION_SIZE, NULL, "16M")                           \
	X(REPORT, OPTION_PATH, NULL, "")                                    \
	X(SORT, OPTION_LIST, NULL, "")                                      \
	X(TOP, OPTION_NUMBER, NULL, "10")                                   \
	X(FLAMEGRAPH, OPTION_SWITCH, NULL, "0")                             \
	X(GUARD, OPTION_SIZE, NULL, "0")                                    \
	X(CULL, OPTION_TIME, NULL, "none")                                  \
	X(CULL_PENDING, OPTION_NUMBER, NULL, "65536")                       \
	X(LIMIT, OPTION_SIZE, NULL, "none")                                 \
	X(STATS_EVERY, OPTION_TIME, NULL, "none")                           \
	X(ZERO_MEMORY, OPTION_SWITCH, NULL, "0")                            \
	X(EMBED, OPTION_CHOICE, "none|debug|full", "debug")                 \
	X(INCLUDE, OPTION_LIST, NULL, "")                                   \
	X(CFI_DIR, OPTION_PATH, NULL, "")

enum option_type {
	OPTION_TEXT,
	OPTION_PATH,	/* the command makes it absolute */
	OPTION_LIST,	/* texts separated by commas */
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
	const char *variable;
	enum option_type type;
	const char *words;
	const char *fallback;
};

extern const struct option_entry options_table[OPTION_COUNT];

/* Words of the choices, in the order of the table. Choices that hooks do not
 * need are in cli/command/options_check.h. */
enum { OPTION_SHADOW_AUTO, OPTION_SHADOW_VALIDATE, OPTION_SHADOW_OFF };
enum { OPTION_MAPS_ON, OPTION_MAPS_OFF };
enum {
	OPTION_FOLLOW_NONE,
	OPTION_FOLLOW_FORK,
	OPTION_FOLLOW_EXEC,
	OPTION_FOLLOW_ALL
};
enum { OPTION_OVERFLOW_WAIT, OPTION_OVERFLOW_DROP };

/* Bounds of values that other files use as well; the other bounds are in
 * options.c. */
#define OPTIONS_MEMORY_MIN (UINT64_C(8) << 20)
#define OPTIONS_RING_MIN (UINT64_C(4) << 10)
#define OPTIONS_RING_MAX (UINT64_C(4) << 20)
#define OPTIONS_SNAPSHOT_MIN (UINT64_C(10) * 1000000)	/* ns */
#define OPTIONS_TIME_MAX (UINT64_C(366) * 86400 * 1000000000)
#define OPTIONS_DEPTH_MAX 4096

struct options {
	bool given[OPTION_COUNT];
	/* OPTION_SIZE: bytes; OPTION_TIME: ns, 0 for none; OPTION_NUMBER;
	 * OPTION_CHOICE: index of the word; OPTION_SWITCH: 0 or 1. A fallback
	 * that is a word, of a size or number: UINT64_MAX, except "none", which
	 * is 0. */
	uint64_t number[OPTION_COUNT];
	uint32_t text_at[OPTION_COUNT];	/* in texts; 0: "" */
	uint32_t texts_used;
	uint32_t oracle;	/* GNOMON_DEBUG_ORACLE=N, see capture.h; 0: no */
	uint64_t seed;		/* GNOMON_DEBUG_SEED, 0: not given */
	uint32_t barrier_near;	/* GNOMON_DEBUG_BARRIER, 0: not given */
	char texts[OPTIONS_TEXTS];	/* the first is "" */
};

/* The value of an OPTION_TEXT, OPTION_PATH or OPTION_LIST; "" for none. */
static inline const char *options_text(const struct options *options,
				       enum option_id id)
{
	return options->texts + options->text_at[id];
}

/* Sets every option to its fallback. */
void options_default(struct options *options);

/* Sets one option. -EINVAL: not a value of its type; -ERANGE: outside its
 * bounds. After an error *options is unchanged. */
int options_set(struct options *options, enum option_id id,
		const char *value);

/* Parses a number at *text and moves *text behind it: integer part and
 * millionths. 0 or -EINVAL. */
int options_number(const char **text, uint64_t *whole, uint64_t *part);

/* "64k", "1.5M", "2G": powers of 1024. 0 or -EINVAL. */
int options_size(const char *text, uint64_t *bytes);

/* "250ms", "1.5s", "1h2m", "none" (0). 0 or -EINVAL. */
int options_time(const char *text, uint64_t *ns);

/* The environment strings that NO_POOLS sets. NULL-terminated. */
extern const char *const options_no_pools[];

/* The descriptor N of an output named /dev/stdout, /dev/fd/N and the like; -1
 * for any other output. */
int options_descriptor(const char *output);

/*
 * Reads every GNOMON_… variable of the table from an environment (strings
 * "NAME=value", ended by NULL). 0, or the error of the first invalid one, with
 * its string in *bad. Ignores variables that the table does not have: they
 * belong to the command.
 */
int options_environment(struct options *options, char *const *environment,
			const char **bad);

#endif
