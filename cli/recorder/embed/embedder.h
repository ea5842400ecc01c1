/*
 * embedder.h: embeds files in the trace: symbols for the addresses of its
 * stacks (--embed), and files that the user requests (--include). The recorder
 * only.
 *
 * It works in steps between passes over the rings, never before the program
 * runs, and for at most EMBEDDER_LAST_NS after the program's end.
 */
#ifndef GNOMON_EMBEDDER_H
#define GNOMON_EMBEDDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/embed/embed_held.h"

struct text_key;
struct recorder;

/* Of the 1 s allowed at the end; other work there needs the remaining time. */
#define EMBEDDER_LAST_NS (UINT64_C(800) * 1000000)

/* The next step for a mapped file. */
enum embedder_stage {
	EMBEDDER_CHOOSE,		/* choose a file that stacks go
					 * through */
	EMBEDDER_WHOLE,
	EMBEDDER_REDUCED,
	EMBEDDER_ALTERNATE
};

struct embedder {
	struct recorder *rec;
	unsigned what;		/* OPTION_EMBED_* */
	bool asked;		/* --embed was given: embed at any cost */
	bool images;		/* embed images: requested, or the program runs
				 * long enough */
	bool begun;
	struct embedder_work *work;	/* once begun; NULL: no memory */
	enum embedder_stage stage;
	uint64_t next_ns;	/* nothing to do before */
	uint64_t until_ns;	/* deadline after the program's end; else
				 * UINT64_MAX */
	uint64_t events, looked_ns;	/* to measure how busy the program is */
	uint64_t cut, inherited, cpu_ns;
	struct embed_held held;
};

void embedder_init(struct embedder *e, struct recorder *rec);

/* Works for some milliseconds. Whether there is more to do immediately. */
bool embedder_step(struct embedder *e, uint64_t now_ns);

/* The process is about to end: opens files that only it can reach. */
void embedder_hold(struct embedder *e);

/* Embeds what it can before the deadline. The trace has all else already. */
void embedder_finish(struct embedder *e);

/* Write lines of COUNTERS, and of INFO: where to find files outside the
 * trace. */
void embedder_counters(const struct embedder *e, struct text_key *text);
void embedder_info(const struct embedder *e, struct text_key *text);

#endif
