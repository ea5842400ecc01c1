/*
 * trace_dump.c TRACE [extras|frees|damages]: prints the recorded contexts of a
 * trace, without symbols. Each context that allocated is a line "allocations
 * root address address …" with the return addresses innermost first, in
 * hexadecimal. root is 0 if the stack is complete, else the reason why it is
 * not (enum gt_stop).
 *
 * With "extras" also, before the contexts and in the order of the file, events
 * other than those of blocks: "extra what stamp address size context
 * arguments", address and arguments in hexadecimal.
 *
 * With "frees" instead the contexts that freed, with their counts: "0" stands
 * for the stacks of all frees that have none.
 *
 * With "damages" only the findings of --guard, a line each: "offset bytes when
 * address size", then "by" and the addresses of the stack that found it, then
 * "of" and those of the stack that allocated the block.
 *
 * For comparing with other unwinders address by address; reports contain
 * symbols instead of addresses.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace/decode/scan.h"
#include "cli/trace/decode/columns.h"
#include "cli/trace/decode/records.h"

#define BATCH 1024

struct node {
	uint64_t address;
	uint32_t parent;
	uint64_t count;		/* of what is asked for */
};

static struct node *nodes;
static size_t node_count;
static bool with_extras, of_frees, of_damages;

static struct node *node_at(uint32_t id)
{
	size_t count = node_count ? node_count : 1024;

	while (count <= id)
		count *= 2;
	if (count > node_count) {
		nodes = realloc(nodes, count * sizeof(*nodes));
		if (!nodes)
			abort();
		memset(nodes + node_count, 0,
		       (count - node_count) * sizeof(*nodes));
		node_count = count;
	}
	return &nodes[id];
}

static void take_nodes(struct cursor *payload, struct inflater *inflater)
{
	static struct node_decoder decoder;
	struct trace_node node;
	bool bad = false;

	if (node_decoder_open(&decoder, payload, inflater))
		exit(3);
	while (node_decoder_next(&decoder, &node, &bad)) {
		struct node *n = node_at(node.id);

		n->address = node.address;
		n->parent = node.parent;
	}
	if (bad)
		exit(3);
}

static void print_stack(uint32_t id)
{
	for (; id >= GT_STOP_COUNT && id < node_count; id = nodes[id].parent)
		printf(" %" PRIx64, nodes[id].address);
}

static void print_damage(const struct trace_event *event)
{
	printf("%" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIx64 " %" PRIu64
	       " by", (int64_t)event->args[0], event->args[2], event->args[3],
	       event->address, event->size);
	print_stack(event->context);
	printf(" of");
	print_stack((uint32_t)event->args[1]);
	printf("\n");
}

static void print_extra(const struct trace_event *event)
{
	if (of_damages && event->what == GT_EXTRA_DAMAGE)
		print_damage(event);
	if (!with_extras)
		return;
	printf("extra %u %" PRIu64 " %" PRIx64 " %" PRIu64 " %" PRIu32,
	       event->what, event->stamp, event->address, event->size,
	       event->context);
	for (unsigned i = 0; i < GT_EXTRA_ARGS; i++)
		printf(" %" PRIx64, event->args[i]);
	printf("\n");
}

static bool is_counted(unsigned kind)
{
	return of_frees ? kind == GT_FREE || kind == GT_REALLOC_BEGIN :
		kind == GT_ALLOC || kind == GT_REALLOC_DONE;
}

static void take_events(struct cursor *payload, bool steps,
			struct inflater *inflater)
{
	static struct event_decoder decoder;
	static struct trace_event events[BATCH];
	size_t count;

	if (event_decoder_open(&decoder, payload, steps, inflater))
		exit(3);
	while ((count = event_decoder_next(&decoder, events, BATCH)))
		for (size_t i = 0; i < count; i++)
			if (is_counted(events[i].kind))
				node_at(events[i].context)->count++;
			else if (events[i].kind == GT_EXTRA)
				print_extra(&events[i]);
	if (decoder.bad)
		exit(3);
}

static void print_context(uint32_t id)
{
	uint32_t root = id;

	while (root >= GT_STOP_COUNT)
		root = nodes[root].parent;
	printf("%" PRIu64 " %" PRIu32, nodes[id].count, root);
	for (; id >= GT_STOP_COUNT; id = nodes[id].parent)
		printf(" %" PRIx64, nodes[id].address);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct scan reader;
	struct inflater inflater = { 0 };
	struct chunk chunk;

	with_extras = argc == 3 && strcmp(argv[2], "extras") == 0;
	of_frees = argc == 3 && strcmp(argv[2], "frees") == 0;
	of_damages = argc == 3 && strcmp(argv[2], "damages") == 0;
	if (argc != 2 + (with_extras || of_frees || of_damages) ||
	    scan_open(&reader, open(argv[1], O_RDONLY)) != SCAN_OPEN_OK)
		return 2;
	while (scan_next(&reader, &chunk)) {
		struct cursor payload;

		if (inflater_payload(&inflater, &chunk, &payload))
			return 3;
		if (chunk.type == GT_CONTEXT)
			take_nodes(&payload, &inflater);
		else if (chunk.type == GT_EVENTS)
			take_events(&payload, chunk.steps, &inflater);
	}
	if (reader.damage_count)
		return 3;
	for (size_t id = 0; id < node_count; id++)
		if (nodes[id].count && !of_damages)
			print_context(id);
	return 0;
}
