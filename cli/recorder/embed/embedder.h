/*
 * embedder.h: files that become part of the trace: what names the addresses of its
 * stacks (--embed), and what the user wants to have (--include). The writer
 * only.
 *
 * It is done in steps between passes over the rings, never before the program
 * runs, and at the end of it for EMBEDDER_LAST_NS at most.
 */
#ifndef GNOMON_EMBEDDER_H
#define GNOMON_EMBEDDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/embed/embed_held.h"

struct text_key;
struct writer;

/* Of 1 s: the rest is for what else the end takes. */
#define EMBEDDER_LAST_NS (UINT64_C(800) * 1000000)

/* What comes next of a file that is mapped. */
enum embedder_stage {
	EMBEDDER_CHOOSE,		/* one that stacks go through */
	EMBEDDER_WHOLE,
	EMBEDDER_REDUCED,
	EMBEDDER_ALTERNATE
};

struct embedder {
	struct writer *w;
	unsigned what;		/* OPTION_EMBED_* */
	bool asked;		/* it was given: whatever it costs */
	bool images;		/* it was, or the program is old enough */
	bool begun;
	struct embedder_work *work;	/* once begun; NULL: no memory */
	enum embedder_stage stage;
	uint64_t next_ns;	/* nothing to do before */
	uint64_t until_ns;	/* the program has ended; else UINT64_MAX */
	uint64_t events, looked_ns;	/* how busy the program is */
	uint64_t cut, inherited, cpu_ns;
	struct embed_held held;
};

void embedder_init(struct embedder *e, struct writer *w);

/* Goes on for some milliseconds. Whether there is more to do at once. */
bool embedder_step(struct embedder *e, uint64_t now_ns);

/* The process is about to end: what only it can reach is kept. */
void embedder_hold(struct embedder *e);

/* What can still be done. Everything else of the program is in the trace. */
void embedder_finish(struct embedder *e);

/* Lines of COUNTERS, and of INFO: where files are that are not in the trace
 * itself. */
void embedder_counters(const struct embedder *e, struct text_key *text);
void embedder_info(const struct embedder *e, struct text_key *text);

#endif
