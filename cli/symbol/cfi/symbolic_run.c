/*
 * symbolic_run.c: the work list of symbolic_run.h. Certain edges are processed
 * first. Only when none is left, the edge after a call is added. So code after
 * a call that never returns gets its state from the paths that really lead
 * there.
 *
 * Constants loaded by instructions and jump tables are data in the code: no
 * path leads there.
 *
 *  I1  A node's state has only what holds on every edge so far.
 *  I2  A node that is new or has lost something is on the list.
 */
#include "cli/symbol/cfi/symbolic_run.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "unwind/base/assertion.h"

/* Calls have numbers, from 1. */
struct symbolic_later {
	uint64_t target;
	uint32_t outer;		/* the call after which it is; 0: none */
	bool proper;		/* the code after it leads to a proper exit */
	struct symbolic_state state;
};

enum edge { EDGE_CERTAIN, EDGE_CALL, EDGE_SLOT };

#define DATA UINT32_MAX		/* in node_at */

static uint64_t offset_of(const struct symbolic_run *run, uint64_t address)
{
	return (address - run->wanted.start) /
		run->wanted.decoder->machine->alignment;
}

static bool is_inside(const struct symbolic_run *run, uint64_t address)
{
	return address >= run->wanted.start && address < run->wanted.end &&
		(address - run->wanted.start) %
			run->wanted.decoder->machine->alignment == 0;
}

static struct symbolic_node *node_at(const struct symbolic_run *run,
				     uint64_t address)
{
	uint32_t index = is_inside(run, address) ?
		run->node_at[offset_of(run, address)] : 0;

	return index == 0 || index == DATA ? NULL : &run->nodes[index - 1];
}

const struct symbolic_node *symbolic_run_at(const struct symbolic_run *run,
					    uint64_t address)
{
	return run->node_at == NULL ? NULL : node_at(run, address);
}

static bool is_data(const struct symbolic_run *run, uint64_t address)
{
	return is_inside(run, address) &&
		run->node_at[offset_of(run, address)] == DATA;
}

/* Bytes already decoded as code stay code. */
static void mark_data(struct symbolic_run *run, uint64_t from, uint64_t end)
{
	unsigned step = run->wanted.decoder->machine->alignment;

	for (uint64_t at = from; at < end; at += step)
		if (is_inside(run, at) && node_at(run, at) == NULL)
			run->node_at[offset_of(run, at)] = DATA;
}

static void push(struct symbolic_run *run, uint64_t address)
{
	GROW(run->work, run->work_count, run->work_capacity);
	run->work[run->work_count++] = address;
}

static struct symbolic_node *add_node(struct symbolic_run *run,
				      uint64_t address,
				      const struct symbolic_state *state)
{
	struct symbolic_node *node;

	if (run->count == SYMBOLIC_RUN_NODES) {
		run->too_large = true;
		return NULL;
	}
	GROW(run->nodes, run->count, run->capacity);
	node = &run->nodes[run->count++];
	*node = (struct symbolic_node){ .address = address, .state = *state,
					.owner = run->current };
	run->node_at[offset_of(run, address)] = (uint32_t)run->count;
	return node;
}

/* Both have a known stack pointer, and they differ. */
static bool disagrees(const struct symbolic_run *run,
		      const struct symbolic_state *a,
		      const struct symbolic_state *b)
{
	unsigned sp = run->wanted.decoder->machine->sp;

	return a->reg[sp].kind != SYMBOLIC_UNKNOWN &&
		b->reg[sp].kind != SYMBOLIC_UNKNOWN &&
		!symbolic_same(a->reg[sp], b->reg[sp]);
}

static void add_link(struct symbolic_run *run, uint32_t to)
{
	struct symbolic_link *last = run->link_count == 0 ? NULL :
		&run->links[run->link_count - 1];

	if (run->current == to || run->current == 0 ||
	    (last != NULL && last->from == run->current && last->to == to))
		return;
	GROW(run->links, run->link_count, run->link_capacity);
	run->links[run->link_count++] = (struct symbolic_link){ run->current,
								to };
}

static void exit_properly(struct symbolic_run *run)
{
	run->exits++;
	if (run->current > 0)
		run->later[run->current - 1].proper = true;
}

static void arrive(struct symbolic_run *run, uint64_t address,
		   const struct symbolic_state *state, enum edge edge)
{
	struct symbolic_node *node = node_at(run, address);
	bool lost = false;

	if (!is_inside(run, address) || is_data(run, address))
		return;
	if (node == NULL) {
		node = add_node(run, address, state);
		if (node == NULL)
			return;
		lost = true;
	} else if (disagrees(run, &node->state, state) &&
		   edge != EDGE_SLOT && (edge == EDGE_CALL || !node->strong)) {
		if (edge == EDGE_CALL && node->flows)
			return;		/* the call does not return */
		node->state = *state;
		lost = true;
	} else {
		lost = symbolic_join(&node->state, state);
		add_link(run, node->owner);
	}
	if (edge == EDGE_CERTAIN)
		node->strong = true;
	if (edge != EDGE_SLOT && (lost || !node->flows)) {
		node->flows = true;
		push(run, address);	/* I2 */
	} else if (lost && node->flows) {
		push(run, address);
	}
}

/* Executes one instruction on the state. */
static void execute(struct symbolic_run *run, uint64_t address,
		    struct symbolic_state *state, struct machine_step *step)
{
	const struct symbolic_wanted *wanted = &run->wanted;
	struct machine_decoder *decoder = wanted->decoder;

	if (!is_inside(run, address)) {
		*step = (struct machine_step){ .flow = MACHINE_BAD };
		return;
	}
	decoder->machine->step(decoder, address,
			       wanted->bytes + (address - wanted->start),
			       (size_t)(wanted->end - address), state, step);
	DEBUG_ASSERT(step->flow == MACHINE_BAD || step->size > 0);
	run->guessed += step->guessed;
}

static void call(struct symbolic_run *run, uint64_t address, uint64_t next,
		 struct symbolic_state *state)
{
	const struct symbolic_wanted *wanted = &run->wanted;
	struct symbolic_later *later;

	machine_return(wanted->decoder->machine, state);
	for (size_t i = 0; i < wanted->pad_count; i++)
		if (address >= wanted->pads[i].start &&
		    address < wanted->pads[i].end)
			arrive(run, wanted->pads[i].pad, state, EDGE_CERTAIN);
	if (wanted->returns != NULL && !wanted->returns(wanted->owner, next))
		return;
	GROW(run->later, run->later_count, run->later_capacity);
	later = &run->later[run->later_count++];
	*later = (struct symbolic_later){ .target = next,
					  .outer = run->current,
					  .state = *state };
}

/* Whether stack and return address are as at the entry. */
static bool is_at_exit(const struct symbolic_run *run,
		       const struct symbolic_state *state)
{
	const struct machine *machine = run->wanted.decoder->machine;

	return symbolic_same(state->reg[machine->sp],
			     symbolic_cfa(-(int)machine->entry_offset)) &&
		(machine->ra_on_stack ||
		 symbolic_same(state->reg[machine->ra],
			       symbolic_entry(machine->ra)));
}

static void leave(struct symbolic_run *run, uint64_t to, bool bare)
{
	const struct symbolic_wanted *wanted = &run->wanted;

	if (wanted->leaves != NULL && !wanted->leaves(wanted->owner, to, bare))
		run->odd_exits++;
	else if (bare)
		exit_properly(run);
}

/* Whether the source of the return address, or the distance of the stack
 * pointer from the CFA, is unknown. */
static bool is_lost(const struct symbolic_run *run,
		    const struct symbolic_state *state)
{
	const struct machine *machine = run->wanted.decoder->machine;
	struct symbolic_value sp = state->reg[machine->sp];

	return sp.kind == SYMBOLIC_UNKNOWN ||
		((sp.kind == SYMBOLIC_ALIGNED ||
		  sp.kind == SYMBOLIC_DYNAMIC) && machine->ra_on_stack);
}

/* The distance of a word's target from the table. */
static uint64_t table_offset(const struct machine_table *table,
			     const uint8_t *bytes)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < table->unit; i++)
		word |= (uint64_t)bytes[i] << 8 * i;
	if (table->unit == sizeof(int32_t))
		word = (uint64_t)(int32_t)word;
	return word * table->scale;
}

/* If the length of the table is unknown, the targets are unknown, too. Targets
 * outside the function are not targets of a switch. */
static void jump_by_table(struct symbolic_run *run,
			  const struct machine_table *table,
			  const struct symbolic_state *state)
{
	const struct symbolic_wanted *wanted = &run->wanted;
	uint64_t size = (uint64_t)table->words * table->unit;
	unsigned alignment = wanted->decoder->machine->alignment;

	if (size == 0 || !is_inside(run, table->start) ||
	    size > wanted->end - table->start) {
		run->odd_exits++;
		run->lost = true;
		return;
	}
	mark_data(run, table->start, table->start + size);
	for (uint64_t i = 0; i < size; i += table->unit) {
		uint64_t target = table->start + table_offset(table,
			wanted->bytes + (table->start + i - wanted->start));

		arrive(run, target - target % alignment, state, EDGE_CERTAIN);
	}
}

static bool find_table(const struct symbolic_run *run, uint64_t address,
		       struct machine_table *table)
{
	const struct symbolic_wanted *wanted = &run->wanted;
	const struct machine *machine = wanted->decoder->machine;

	return machine->find_table != NULL &&
		machine->find_table(wanted->decoder, wanted->bytes,
				    wanted->start, address, table);
}

static void jump(struct symbolic_run *run, uint64_t address,
		 const struct machine_step *step,
		 const struct symbolic_state *state)
{
	struct machine_table table;

	if (step->has_target && is_inside(run, step->target)) {
		arrive(run, step->target, state, EDGE_CERTAIN);
	} else if (step->has_target) {
		leave(run, step->target, is_at_exit(run, state));
	} else if (find_table(run, address, &table)) {
		jump_by_table(run, &table, state);
	} else {
		bool bare = is_at_exit(run, state);

		if (bare)
			exit_properly(run);
		if (run->has_jump[bare])
			symbolic_join(&run->jump[bare], state);
		else
			run->jump[bare] = *state;
		run->has_jump[bare] = true;
		run->indirect++;
	}
}

static void follow(struct symbolic_run *run, uint64_t address, uint64_t next,
		   const struct machine_step *step,
		   struct symbolic_state *taken,
		   const struct symbolic_state *passed)
{
	switch (step->flow) {
	case MACHINE_NEXT:
		arrive(run, next, taken, EDGE_CERTAIN);
		break;
	case MACHINE_BRANCH:
		arrive(run, next, passed, EDGE_CERTAIN);
		jump(run, address, step, taken);
		break;
	case MACHINE_JUMP:
		jump(run, address, step, taken);
		break;
	case MACHINE_CALL:
		call(run, address, next, taken);
		break;
	case MACHINE_RETURN:
		if (is_at_exit(run, taken))
			exit_properly(run);
		else
			run->odd_exits++;
		run->lost |= is_lost(run, taken);
		break;
	}
}

static void visit(struct symbolic_run *run, uint64_t address)
{
	struct symbolic_node *node = node_at(run, address);
	struct symbolic_state state = node->state, before;
	struct machine_step step, slot;
	uint64_t next;

	execute(run, address, &state, &step);
	node->size = step.size;
	node->flow = step.flow;
	if (step.flow == MACHINE_BAD) {
		/* data after a call that does not return */
		if (!node->strong)
			return;
		run->bad++;
		if (run->first_bad == 0 || address < run->first_bad)
			run->first_bad = address;
		return;
	}
	if (step.saves_ra && state.reg[run->wanted.decoder->machine->ra].kind ==
	    SYMBOLIC_UNKNOWN)
		run->odd_exits++;
	if (step.literal != 0)
		mark_data(run, step.literal, step.literal +
			  run->wanted.decoder->machine->word);
	next = address + step.size;
	before = state;
	if (step.delayed) {
		arrive(run, next, &state, EDGE_SLOT);
		execute(run, next, &state, &slot);
		node = node_at(run, next);
		if (node != NULL && node->size == 0) {
			node->size = slot.size;
			node->flow = MACHINE_NEXT;
		}
		next += slot.size;
	}
	follow(run, address, next, &step, &state,
	       step.nullified ? &before : &state);
}

/* A landing pad: exceptions lead there, calls do not return to it. */
static bool is_pad(const struct symbolic_run *run, uint64_t address)
{
	for (size_t i = 0; i < run->wanted.pad_count; i++)
		if (run->wanted.pads[i].pad == address)
			return true;
	return false;
}

/* Remember the assumed edge that led to the first odd exit. */
static void note_odd(struct symbolic_run *run, unsigned before, uint64_t target,
		     bool call)
{
	if (before > 0 || run->odd_exits == 0)
		return;
	run->odd_from = target;
	run->odd_is_call = call;
	run->odd_call = call ? run->current : 0;
}

static void work_off(struct symbolic_run *run)
{
	unsigned odd = run->odd_exits;
	uint64_t target = 0;

	for (;;) {
		while (run->work_count > 0 && !run->too_large) {
			if (++run->steps > SYMBOLIC_RUN_STEPS)
				run->too_large = true;
			visit(run, run->work[--run->work_count]);
		}
		if (target != 0)
			note_odd(run, odd, target, true);
		if (run->later_done == run->later_count || run->too_large)
			return;
		odd = run->odd_exits;
		target = run->later[run->later_done].target;
		run->current = (uint32_t)run->later_done + 1;
		if (!is_pad(run, target))
			arrive(run, target,
			       &run->later[run->later_done].state, EDGE_CALL);
		run->later_done++;
	}
}

/* ---- calls that may not come back ---- */

/* A call's return is proper if the code after it leads to a proper exit:
 * itself, by later calls in it, or by joining other code. */
static void spread_proper(struct symbolic_run *run)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < run->later_count; i++) {
			const struct symbolic_later *later = &run->later[i];

			if (!later->proper || later->outer == 0 ||
			    run->later[later->outer - 1].proper)
				continue;
			run->later[later->outer - 1].proper = more = true;
		}
		for (size_t i = 0; i < run->link_count; i++) {
			struct symbolic_link link = run->links[i];
			struct symbolic_later *from = &run->later[link.from - 1];

			if (from->proper || (link.to != 0 &&
			    !run->later[link.to - 1].proper))
				continue;
			from->proper = more = true;
		}
	}
}

uint64_t symbolic_run_suspect(const struct symbolic_run *run, uint32_t call,
			      uint32_t *outer)
{
	const struct symbolic_later *later = &run->later[call - 1];

	DEBUG_ASSERT(call > 0 && call <= run->later_count);
	DEBUG_ASSERT(later->outer < call);
	*outer = later->outer > 0 && !run->later[later->outer - 1].proper ?
		later->outer : 0;
	return later->target;
}

/* ---- unreached code ---- */

static bool is_padding(const struct symbolic_run *run, uint64_t address,
		       unsigned *size)
{
	const struct machine *machine = run->wanted.decoder->machine;
	const uint8_t *at = run->wanted.bytes +
		(address - run->wanted.start);
	uint64_t left = run->wanted.end - address;
	struct symbolic_state state;
	struct machine_step step;

	*size = machine->alignment;
	if (left < *size)
		return true;
	for (unsigned i = 0; at[i] == 0;)
		if (++i == *size)
			return true;
	symbolic_begin(&state);
	machine->step(run->wanted.decoder, address, at, (size_t)left, &state,
		      &step);
	if (step.flow == MACHINE_BAD)
		return false;
	*size = step.size;
	return step.nothing || step.flow == MACHINE_STOP;
}

/* The end of the bytes that a node at an address covers; 0: none. */
static uint64_t covered(const struct symbolic_run *run, uint64_t address)
{
	const struct symbolic_node *node = node_at(run, address);

	if (is_data(run, address))
		return address + run->wanted.decoder->machine->alignment;
	if (node == NULL)
		return 0;
	return address + (node->size ? node->size :
			  run->wanted.decoder->machine->alignment);
}

uint64_t symbolic_run_unreached(const struct symbolic_run *run, uint64_t from)
{
	uint64_t at = from, end;
	unsigned size;

	while (at < run->wanted.end) {
		end = covered(run, at);
		if (end != 0) {
			at = end;
			continue;
		}
		if (!is_padding(run, at, &size))
			return at;
		at += size;
	}
	return run->wanted.end;
}

/* Jumps by registers are assumed to lead to unreached code. Jumps without a
 * frame are tail calls, unless there are no others, and no calls either. */
static void assume(struct symbolic_run *run)
{
	uint64_t at = run->wanted.start;
	bool bare = !run->has_jump[0] && run->later_count == 0;

	while (run->has_jump[bare] && !run->too_large) {
		unsigned odd = run->odd_exits;

		at = symbolic_run_unreached(run, at);
		if (at >= run->wanted.end)
			return;
		arrive(run, at, &run->jump[bare], EDGE_CERTAIN);
		run->assumed++;
		work_off(run);
		note_odd(run, odd, at, false);
	}
}

static void count_unreached(struct symbolic_run *run)
{
	uint64_t at = run->wanted.start;
	unsigned step = run->wanted.decoder->machine->alignment;

	while ((at = symbolic_run_unreached(run, at)) < run->wanted.end) {
		run->unreached += step;
		at += step;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct symbolic_node *x = a, *y = b;

	return sort_up(x->address, y->address);
}

void symbolic_run(struct symbolic_run *run,
		  const struct symbolic_wanted *wanted)
{
	uint64_t size = wanted->end - wanted->start;

	*run = (struct symbolic_run){ .wanted = *wanted };
	DEBUG_ASSERT(wanted->start <= wanted->end);
	if (size > SYMBOLIC_RUN_SIZE) {
		run->too_large = true;
		return;
	}
	run->node_at = grow_zeroed(size + 1, sizeof(*run->node_at));
	arrive(run, wanted->start, wanted->entry, EDGE_CERTAIN);
	work_off(run);
	run->current = 0;
	assume(run);
	spread_proper(run);
	count_unreached(run);
	SORT(run->nodes, run->count, by_address);
	for (size_t i = 0; i < run->count; i++)
		run->node_at[offset_of(run, run->nodes[i].address)] =
			(uint32_t)i + 1;
}

void symbolic_run_free(struct symbolic_run *run)
{
	free(run->node_at);
	free(run->nodes);
	free(run->work);
	free(run->later);
	free(run->links);
	memset(run, 0, sizeof(*run));
}
