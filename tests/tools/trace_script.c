/*
 * trace_script.c: makes traces from a script and runs `report` on them, for
 * tests that compare thousands of small traces with a model of their own
 * (tests/tools/brute_model.py). A trace takes a tenth of a millisecond, a
 * report one: the command runs in a forked process without exec.
 *
 * usage: trace_script < SCRIPT
 *
 * A line is a command; one blank separates its words. Numbers are decimal, or
 * hexadecimal after 0x. Stamps of a ring do not fall.
 *
 *	new                           forget everything, begin a trace
 *	info KEY VALUE                a line of INFO
 *	thread RING TID FLAGS STAMP NAME
 *	                              a thread begins to use the ring
 *	end RING STAMP                it has ended
 *	library INDEX START SIZE PATH an image, mapped before all contexts
 *	file INDEX START SIZE PATH BUILD_ID
 *	                              the same, of a file with a build-id
 *	node ID PARENT ADDRESS        a context
 *	function START SIZE NAME      code at these addresses
 *	control WHAT STAMP NAME       enum gt_control_what; NAME "-": none
 *	alloc RING STAMP ADDRESS SIZE CONTEXT
 *	free RING STAMP ADDRESS CONTEXT
 *	begin RING STAMP ADDRESS CONTEXT
 *	                              a realloc begins, which ends with
 *	done RING STAMP ADDRESS SIZE CONTEXT
 *	failed RING STAMP ADDRESS 0
 *	freed RING STAMP ADDRESS 0
 *	unseen RING STAMP COUNT       so many allocations of the thread that are
 *	                              not in the trace
 *	sync STAMP                    what came so far is written: what follows
 *	                              has no lower stamp
 *	write FILE                    the trace ends
 *	strip WORD...                 `gnomon strip WORD...`, which has to succeed
 *	report WORD...                `gnomon report WORD...`; its output is
 *	                              followed by a line "status N"
 *
 * A tick is TICK_NS ns; the recording begins at tick 0. Lines of info come
 * first, threads and contexts before the events that name them.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/commands.h"
#include "cli/symbol/elf/elf_tables.h"
#include "cli/trace/write/compose.h"

#define TRACE_ID UINT64_C(0x676e6f6d6f6e5343)
#define TICK_NS 10
#define WORDS_MAX 64

struct ring {
	uint32_t number, generation;
	bool nested;
	uint64_t position;	/* of the first of `events` */
	struct trace_event *events;
	size_t count, capacity;
};

struct script {
	struct buffer bytes;
	uint64_t sequence;
	struct buffer info;
	struct trace_node *nodes;
	size_t node_count, node_capacity;
	struct buffer functions;
	size_t function_count;
	struct ring *rings;
	size_t ring_count, ring_capacity;
	uint64_t line;		/* of the script, from 1 */
};

static __attribute__((noreturn)) void fail(const struct script *s,
					   const char *what)
{
	fprintf(stderr, "trace_script: line %llu: %s\n",
		(unsigned long long)s->line, what);
	exit(2);
}

/* ---- chunks ---- */

/* Takes the payload's memory. */
static void put(struct script *s, struct chunk chunk, struct buffer *payload)
{
	chunk.sequence = s->sequence++;
	compose_chunk(&s->bytes, &chunk, TRACE_ID, payload);
	buffer_free(payload);
}

static void put_info(struct script *s)
{
	struct buffer payload = { 0 };

	if (s->info.size == 0)
		return;
	compose_line(&payload, "arch", "x86_64");
	compose_line(&payload, "tick_shift", "0");
	compose_line(&payload, "tick_ps", "10000");
	compose_line(&payload, "start_monotonic_ns", "0");
	/* a later value replaces an earlier one */
	buffer_add(&payload, s->info.data, s->info.size);
	buffer_free(&s->info);
	put(s, (struct chunk){ .type = GT_INFO }, &payload);
}

static void put_sync(struct script *s, uint64_t stamp)
{
	struct trace_sync sync = { stamp, stamp, stamp * TICK_NS,
				   stamp * TICK_NS, 0 };
	struct buffer payload = { 0 };

	compose_sync(&payload, &sync);
	put(s, (struct chunk){ .type = GT_SYNC }, &payload);
}

static void put_nodes(struct script *s)
{
	struct buffer payload = { 0 };

	if (s->node_count == 0)
		return;
	compose_nodes(&payload, s->nodes, s->node_count, 0);
	s->node_count = 0;
	put(s, (struct chunk){ .type = GT_CONTEXT }, &payload);
}

static void put_functions(struct script *s)
{
	struct buffer payload = { 0 };

	if (s->function_count == 0)
		return;
	compose_varint(&payload, s->function_count);
	compose_column(&payload, &s->functions, 0);
	compose_varint(&payload, 0);
	buffer_clear(&s->functions);
	s->function_count = 0;
	put(s, (struct chunk){ .type = GT_NAMES }, &payload);
}

static void put_events(struct script *s, struct ring *ring)
{
	struct chunk chunk = {
		.type = GT_EVENTS, .ring = ring->number,
		.generation = ring->generation, .first = ring->position,
	};
	struct buffer payload = { 0 };

	if (ring->count == 0)
		return;
	for (size_t i = 0; i < ring->count; i++)
		ring->position += records_ring_bytes(&ring->events[i],
						     ring->nested);
	chunk.last = ring->position;
	compose_events(&payload, ring->events, ring->count, 0);
	ring->count = 0;
	put(s, chunk, &payload);
}

static void put_all(struct script *s)
{
	put_nodes(s);
	for (size_t i = 0; i < s->ring_count; i++)
		put_events(s, &s->rings[i]);
}

/* ---- orders ---- */

static uint64_t number(const struct script *s, const char *word)
{
	char *end;
	uint64_t value = strtoull(word, &end, 0);

	if (end == word || *end != 0)
		fail(s, "no number");
	return value;
}

static struct ring *ring_of(struct script *s, const char *word)
{
	uint64_t wanted = number(s, word);

	for (size_t i = 0; i < s->ring_count; i++)
		if (s->rings[i].number == wanted)
			return &s->rings[i];
	return NULL;
}

static void order_new(struct script *s, char **word)
{
	(void)word;
	buffer_clear(&s->bytes);
	buffer_clear(&s->info);
	buffer_clear(&s->functions);
	s->sequence = 0;
	s->node_count = s->function_count = 0;
	for (size_t i = 0; i < s->ring_count; i++)
		free(s->rings[i].events);
	s->ring_count = 0;
	compose_header(&s->bytes, TRACE_ID);
}

static void order_info(struct script *s, char **word)
{
	compose_line(&s->info, word[0], word[1]);
}

/* A ring that was in use is another generation. */
static struct ring *use_ring(struct script *s, const char *word)
{
	struct ring *ring = ring_of(s, word);

	if (ring != NULL) {
		put_events(s, ring);
		ring->generation++;
		ring->position = 0;
		return ring;
	}
	GROW(s->rings, s->ring_count, s->ring_capacity);
	ring = &s->rings[s->ring_count++];
	*ring = (struct ring){ .number = (uint32_t)number(s, word) };
	return ring;
}

static void order_thread(struct script *s, char **word)
{
	struct trace_thread thread = {
		.what = GT_THREAD_START,
		.ring = (uint32_t)number(s, word[0]),
		.tid = (uint32_t)number(s, word[1]),
		.flags = (uint32_t)number(s, word[2]),
		.stamp = number(s, word[3]),
		.name = word[4],
		.name_size = strlen(word[4]),
	};
	struct buffer payload = { 0 };
	struct ring *ring;

	put_info(s);
	if (s->ring_count == 0)
		put_sync(s, 0);
	put_nodes(s);
	ring = use_ring(s, word[0]);
	ring->nested = thread.flags & GT_THREAD_NESTED;
	compose_thread(&payload, &thread);
	put(s, (struct chunk){ .type = GT_THREAD }, &payload);
}

static void order_end(struct script *s, char **word)
{
	struct trace_thread thread = {
		.what = GT_THREAD_END,
		.ring = (uint32_t)number(s, word[0]),
		.stamp = number(s, word[1]),
	};
	struct ring *ring = ring_of(s, word[0]);
	struct buffer payload = { 0 };

	if (ring == NULL)
		fail(s, "no such ring");
	put_nodes(s);
	put_events(s, ring);
	compose_thread(&payload, &thread);
	put(s, (struct chunk){ .type = GT_THREAD }, &payload);
}

static void order_node(struct script *s, char **word)
{
	GROW(s->nodes, s->node_count, s->node_capacity);
	s->nodes[s->node_count++] = (struct trace_node){
		(uint32_t)number(s, word[0]), (uint32_t)number(s, word[1]),
		number(s, word[2])
	};
}

/* What a build-id in hexadecimal digits is. */
static size_t build_id_of(uint8_t id[ELF_TABLES_ID_MAX], const char *hex)
{
	size_t size = 0;
	unsigned byte;

	while (size < ELF_TABLES_ID_MAX &&
	       sscanf(hex + 2 * size, "%2x", &byte) == 1)
		id[size++] = (uint8_t)byte;
	return size;
}

static void put_image(struct script *s, char **word, const uint8_t *build_id,
		      size_t build_id_size)
{
	struct trace_image image = {
		.what = GT_IMAGE_MAPPED,
		.index = (uint32_t)number(s, word[0]),
		.first_node = GT_STOP_COUNT,
		.bias = number(s, word[1]),
		.segment_count = 1,
		.segments[0] = { number(s, word[1]), number(s, word[2]), 0,
				 PF_R | PF_X },
		.path = word[3],
		.path_size = strlen(word[3]),
		.build_id = build_id,
		.build_id_size = build_id_size,
	};
	struct buffer payload = { 0 };

	put_info(s);
	compose_image(&payload, &image);
	put(s, (struct chunk){ .type = GT_IMAGE }, &payload);
}

static void order_library(struct script *s, char **word)
{
	put_image(s, word, NULL, 0);
}

static void order_file(struct script *s, char **word)
{
	uint8_t id[ELF_TABLES_ID_MAX];
	size_t size = build_id_of(id, word[4]);

	put_image(s, word, id, size);
}

static void order_function(struct script *s, char **word)
{
	buffer_printf(&s->functions, "%llx %llx %s\n",
		      (unsigned long long)number(s, word[0]),
		      (unsigned long long)number(s, word[1]), word[2]);
	s->function_count++;
}

static void order_control(struct script *s, char **word)
{
	struct trace_control control = {
		.what = (unsigned)number(s, word[0]),
		.stamp = number(s, word[1]),
		.name = word[2],
		.name_size = strcmp(word[2], "-") == 0 ? 0 : strlen(word[2]),
	};
	struct buffer payload = { 0 };

	compose_control(&payload, &control);
	put(s, (struct chunk){ .type = GT_CONTROL }, &payload);
}

static struct trace_event *add_event(struct script *s, char **word,
				     enum gt_event kind)
{
	struct ring *ring = ring_of(s, word[0]);
	struct trace_event *event;

	if (ring == NULL)
		fail(s, "no such ring");
	GROW(ring->events, ring->count, ring->capacity);
	event = &ring->events[ring->count++];
	*event = (struct trace_event){
		.stamp = number(s, word[1]), .kind = (uint8_t)kind,
	};
	if (ring->count > 1 && event[-1].stamp > event->stamp)
		fail(s, "the ring's stamps fall");
	return event;
}

static void begins(struct script *s, char **word, enum gt_event kind)
{
	struct trace_event *event = add_event(s, word, kind);

	event->address = number(s, word[2]);
	event->size = number(s, word[3]);
	event->context = (uint32_t)number(s, word[4]);
}

static void ends(struct script *s, char **word, enum gt_event kind)
{
	struct trace_event *event = add_event(s, word, kind);

	event->address = number(s, word[2]);
	event->context = (uint32_t)number(s, word[3]);
}

static void order_alloc(struct script *s, char **word)
{
	begins(s, word, GT_ALLOC);
}

static void order_free(struct script *s, char **word)
{
	ends(s, word, GT_FREE);
}

static void order_begin(struct script *s, char **word)
{
	ends(s, word, GT_REALLOC_BEGIN);
}

static void order_done(struct script *s, char **word)
{
	begins(s, word, GT_REALLOC_DONE);
}

static void order_failed(struct script *s, char **word)
{
	ends(s, word, GT_REALLOC_FAILED);
}

static void order_freed(struct script *s, char **word)
{
	ends(s, word, GT_REALLOC_FREED);
}

static void order_unseen(struct script *s, char **word)
{
	static const uint64_t no_args[GT_EXTRA_ARGS];
	struct trace_event *event = add_event(s, word, GT_EXTRA);

	event->what = GT_EXTRA_LEFT_OUT;
	event->size = number(s, word[2]);
	event->args = no_args;
}

static void order_sync(struct script *s, char **word)
{
	put_all(s);
	put_sync(s, number(s, word[0]));
}

static void order_to_file(struct script *s, char **word)
{
	struct buffer payload = { 0 };
	FILE *out = fopen(word[0], "w");

	put_info(s);
	put_all(s);
	put_functions(s);
	compose_line(&payload, "reason", "exit");
	compose_line(&payload, "exit_code", "0");
	put(s, (struct chunk){ .type = GT_END }, &payload);
	if (out == NULL || fwrite(s->bytes.data, 1, s->bytes.size, out) !=
	    s->bytes.size || fclose(out) != 0) {
		perror(word[0]);
		exit(2);
	}
}

/* Returns its exit status. */
static int run(struct script *s, const struct command *command, char **word)
{
	char *argv[WORDS_MAX + 1] = { (char *)command->name };
	int argc = 1, status;
	pid_t child;

	for (; word[argc - 1] != NULL; argc++)
		argv[argc] = word[argc - 1];
	fflush(stdout);
	child = fork();
	if (child == 0) {
		status = command->main(command, argc, argv);
		fflush(stdout);
		_exit(status);	/* the script is the parent's to read */
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		fail(s, strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void order_strip(struct script *s, char **word)
{
	if (run(s, &cmd_strip, word) != 0)
		fail(s, "strip has failed");
}

static void order_report(struct script *s, char **word)
{
	printf("status %d\n", run(s, &cmd_report, word));
}

static const struct order {
	const char *name;
	int words;		/* behind it; -1: any number */
	void (*act)(struct script *s, char **word);
} orders[] = {
	{ "new", 0, order_new },
	{ "info", 2, order_info },
	{ "thread", 5, order_thread },
	{ "end", 2, order_end },
	{ "library", 4, order_library },
	{ "file", 5, order_file },
	{ "node", 3, order_node },
	{ "function", 3, order_function },
	{ "control", 3, order_control },
	{ "alloc", 5, order_alloc },
	{ "free", 4, order_free },
	{ "begin", 4, order_begin },
	{ "done", 5, order_done },
	{ "failed", 4, order_failed },
	{ "freed", 4, order_freed },
	{ "unseen", 3, order_unseen },
	{ "sync", 1, order_sync },
	{ "write", 1, order_to_file },
	{ "strip", -1, order_strip },
	{ "report", -1, order_report },
};

static void obey(struct script *s, char *line)
{
	char *word[WORDS_MAX + 1] = { 0 };
	int count = 0;

	for (char *at = strtok(line, " \n"); at != NULL;
	     at = strtok(NULL, " \n")) {
		if (count == WORDS_MAX)
			fail(s, "too many words");
		word[count++] = at;
	}
	if (count == 0)
		return;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		if (strcmp(word[0], orders[i].name) != 0)
			continue;
		if (orders[i].words >= 0 && orders[i].words != count - 1)
			fail(s, "wrong number of words");
		orders[i].act(s, word + 1);
		return;
	}
	fail(s, "no such order");
}

int main(void)
{
	struct script script = { 0 };
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		script.line++;
		obey(&script, line);
	}
	return 0;
}
