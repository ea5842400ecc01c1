/*
 * generated_rules.c: see generated_rules.h.
 *
 *	gap ──▶ starts of functions ──▶ run each up to the next start ──▶ rows
 *	          ▲                                   │
 *	          └── calls, code after its end ◀─────┘
 *
 * Code that is run as a function must be one: at its returns, the stack must be
 * as at its entry. Code that no name or call marks as a function must also end
 * in this way somewhere, and not by a jump to an unknown function. Cold parts,
 * which compilers place elsewhere, end by such jumps; their frames are those of
 * the middle of a function.
 *
 * If a debug table has the function (debug_rules.h), its rows are used instead.
 *
 *  I1  Entries are sorted and do not overlap: functions are run in order, up to
 *      the next start known at that time.
 */
#include "cli/symbol/cfi/generated_rules.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/table.h"
#include "cli/symbol/cfi/code_gaps.h"
#include "cli/symbol/cfi/debug_rules.h"
#include "cli/symbol/cfi/function_starts.h"
#include "cli/symbol/cfi/symbolic_run.h"
#include "unwind/base/assertion.h"

#define LOST_CALLS 16		/* in a function; each needs another run */
#define FUNCTION_ALIGNMENT 16	/* of x86-64 compilers with optimisation */

struct making {
	struct generated_rules *made;
	const struct binary *binary;
	struct debug_rules debug;
	struct machine_decoder decoder;
	struct code_gaps gaps;
	struct function_starts starts;
	bool open;		/* the next row may extend the last entry */
	uint64_t data_end;	/* of the constants after the last function */
	struct table runs;	/* address -> whether it runs as a function */
};

/* ---- rows ---- */

/* The stack pointer as an offset from a base, if known: slots below are no
 * longer saved. */
static int64_t lowest(const struct making *m,
		      const struct symbolic_state *state,
		      enum symbolic_kind base)
{
	struct symbolic_value sp = state->reg[m->binary->machine->sp];

	return sp.kind == base ? sp.number : INT32_MIN;
}

/* A function that has aligned its stack keeps the CFA in a word of its
 * frame. */
static bool find_word(const struct making *m,
		      const struct symbolic_state *state,
		      struct generated_row *row)
{
	const struct machine *machine = m->binary->machine;
	struct symbolic_value fp = state->reg[machine->fp[0]];
	int64_t at;

	if (!machine->ra_on_stack || fp.kind != SYMBOLIC_ALIGNED ||
	    !symbolic_find(state, SYMBOLIC_ALIGNED, symbolic_cfa(0),
			   lowest(m, state, SYMBOLIC_ALIGNED), &at))
		return false;
	row->deref = true;
	row->cfa_reg = machine->fp[0];
	row->cfa_offset = at - fp.number;
	return row->cfa_offset >= INT32_MIN && row->cfa_offset <= INT32_MAX;
}

/* Before it stores that word, and after the epilogue reloads it, a register
 * holds the CFA; a call clobbers it unless calls preserve the register. */
static bool find_holder(const struct making *m,
			const struct symbolic_node *node,
			struct generated_row *row)
{
	const struct machine *machine = m->binary->machine;
	const struct symbolic_value *reg = node->state.reg;

	if (reg[machine->sp].kind != SYMBOLIC_ALIGNED)
		return false;
	for (unsigned r = 0; r < SYMBOLIC_FLOATS; r++)
		if (reg[r].kind == SYMBOLIC_CFA && reg[r].number <= 0 &&
		    reg[r].number >= INT32_MIN &&
		    (node->flow != MACHINE_CALL ||
		     machine->preserved >> r & 1)) {
			row->cfa_reg = (uint8_t)r;
			row->cfa_offset = -reg[r].number;
			return true;
		}
	return false;
}

static bool find_cfa(const struct making *m, const struct symbolic_node *node,
		     struct generated_row *row)
{
	const struct machine *machine = m->binary->machine;
	const struct symbolic_state *state = &node->state;
	const uint8_t bases[] = { machine->sp, machine->fp[0], machine->fp[1] };
	unsigned i = 0;

	while (i < 3 && state->reg[bases[i]].kind != SYMBOLIC_CFA)
		i++;
	if (i == 3)
		return find_word(m, state, row) || find_holder(m, node, row);
	row->cfa_reg = bases[i];
	row->cfa_offset = -state->reg[bases[i]].number;
	return row->cfa_offset >= 0 && row->cfa_offset <= INT32_MAX;
}

/* Where the caller's value of a register is: in the frame, or still in the
 * register. */
static uint8_t find_register(const struct making *m,
			     const struct symbolic_node *node, unsigned reg,
			     int32_t *offset)
{
	const struct machine *machine = m->binary->machine;
	const struct symbolic_state *state = &node->state;
	struct symbolic_value old = symbolic_entry(reg);
	struct symbolic_value fp = state->reg[machine->fp[0]];
	int64_t at;

	if (symbolic_saved(state, reg, &at) && at % machine->word == 0 &&
	    at >= lowest(m, state, SYMBOLIC_CFA) && at <= INT32_MAX) {
		*offset = (int32_t)at;
		return GENERATED_AT_CFA;
	}
	if (reg != machine->ra && fp.kind == SYMBOLIC_ALIGNED &&
	    symbolic_find(state, SYMBOLIC_ALIGNED, old,
			  lowest(m, state, SYMBOLIC_ALIGNED), &at) &&
	    at - fp.number >= INT32_MIN && at - fp.number <= INT32_MAX) {
		*offset = (int32_t)(at - fp.number);
		return GENERATED_AT_FP;
	}
	return symbolic_same(state->reg[reg], old) &&
		!(reg == machine->ra &&
		  (machine->ra_on_stack || node->flow == MACHINE_CALL)) ?
		GENERATED_SAME : GENERATED_UNKNOWN;
}

/*
 * The row for one instruction. During a call it is looked up by the return
 * address, which is in the callee then: the row must hold after the call
 * instruction. False: the place of the CFA or of the return address is unknown.
 */
static bool make_row(const struct making *m, const struct symbolic_node *node,
		     struct generated_row *row)
{
	const struct machine *machine = m->binary->machine;

	memset(row, 0, sizeof(*row));
	if (node->state.signed_ra == SYMBOLIC_EITHER ||
	    !find_cfa(m, node, row))
		return false;
	row->start = node->address;
	row->signs = node->state.signed_ra == SYMBOLIC_SIGNED;
	for (unsigned reg = 0; reg < SYMBOLIC_REGS; reg++)
		if (machine->preserved >> reg & 1 || reg == machine->ra)
			row->where[reg] = find_register(m, node, reg,
							&row->offset[reg]);
	return row->where[machine->ra] != GENERATED_UNKNOWN;
}

static bool same_row(const struct generated_row *a,
		     const struct generated_row *b)
{
	return a->cfa_reg == b->cfa_reg && a->cfa_offset == b->cfa_offset &&
		a->deref == b->deref && a->signs == b->signs &&
		memcmp(a->where, b->where, sizeof(a->where)) == 0 &&
		memcmp(a->offset, b->offset, sizeof(a->offset)) == 0;
}

static void add_row(struct making *m, const struct generated_row *row,
		    uint64_t end)
{
	struct generated_rules *made = m->made;
	struct generated_entry *entry = made->count == 0 ? NULL :
		&made->entries[made->count - 1];

	made->ruled_bytes += end - row->start;
	if (!m->open || entry->end != row->start) {
		GROW(made->entries, made->count, made->capacity);
		entry = &made->entries[made->count++];
		*entry = (struct generated_entry){ row->start, row->start,
					      made->row_count, 0 };
		DEBUG_ASSERT(made->count == 1 ||
			     entry[-1].end <= entry->start);	/* I1 */
		m->open = true;
	} else if (same_row(&made->rows[made->row_count - 1], row)) {
		entry->end = end;
		return;
	}
	entry->end = end;
	entry->count++;
	GROW(made->rows, made->row_count, made->row_capacity);
	made->rows[made->row_count++] = *row;
}

/* Takes the rows of a run. Returns the end of the code reached, at least one
 * instruction. */
static uint64_t take_run(struct making *m, const struct symbolic_run *run,
			 bool good)
{
	uint64_t end = run->wanted.start + m->binary->machine->alignment;
	struct generated_row row;

	m->open = false;
	for (size_t i = 0; i < run->count; i++) {
		const struct symbolic_node *node = &run->nodes[i];

		if (node->size == 0 || node->flow == MACHINE_BAD ||
		    (i > 0 && node->address < end))
			continue;	/* overlaps another instruction */
		end = node->address + node->size;
		if (good && make_row(m, node, &row))
			add_row(m, &row, end);
		else
			m->open = false;
	}
	return end;
}

/* ---- functions ---- */

/* The first instruction after padding. */
static uint64_t skip_padding(struct making *m, const struct code_gap *gap,
			     uint64_t at)
{
	const struct machine *machine = m->binary->machine;
	struct symbolic_state state;
	struct machine_step step;

	while (at < gap->end) {
		const uint8_t *bytes = gap->bytes + (at - gap->start);
		unsigned zeros = 0;

		while (zeros < machine->alignment && bytes[zeros] == 0)
			zeros++;
		if (zeros == machine->alignment) {
			at += zeros;
			continue;
		}
		symbolic_begin(&state);
		machine->step(&m->decoder, at, bytes, (size_t)(gap->end - at),
			      &state, &step);
		if (step.flow != MACHINE_BAD && !step.nothing &&
		    step.flow != MACHINE_STOP)
			return at;
		at += step.flow == MACHINE_BAD ? machine->alignment :
			step.size;
	}
	return at;
}

/* State while a function is run. */
struct running {
	struct making *making;
	/* Calls that do not return, by their return addresses. */
	uint64_t behind[LOST_CALLS];
	unsigned count;
	/* Exits that are jumps to unknown functions: this code may be a cold
	 * part, and the jump leads back to its function. */
	unsigned doubtful;
	bool unsure;	/* it is not clear which of several calls does not
			 * return: code after the first is not used */
};

static bool comes_back(void *owner, uint64_t behind)
{
	const struct running *running = owner;

	for (unsigned i = 0; i < running->count; i++)
		if (running->behind[i] == behind)
			return false;
	return true;
}

/* A jump to an unknown function may lead from a cold part back to its
 * function. */
static void note_exit(struct running *running, uint64_t to)
{
	const struct making *m = running->making;

	running->doubtful += code_gaps_at(&m->gaps, to) != NULL &&
		!function_starts_has(&m->starts, to);
}

static bool note_bare(void *owner, uint64_t to, bool bare)
{
	if (bare)
		note_exit(owner, to);
	return true;
}

/* Whether code that is not known as a function runs as one: it returns, with
 * its initial stack. Cold parts do not. */
static bool runs_as_function(struct making *m, uint64_t start)
{
	const struct code_gap *gap = code_gaps_at(&m->gaps, start);
	uint32_t known = table_get(&m->runs, start);
	struct running running = { .making = m };
	struct symbolic_state entry;
	struct symbolic_run run;
	struct symbolic_wanted wanted = {
		.decoder = &m->decoder, .start = start, .entry = &entry,
		.leaves = note_bare, .owner = &running,
	};
	bool thumb = m->decoder.thumb;

	if (gap == NULL || known != TABLE_NONE)
		return gap != NULL && known;
	wanted.end = function_starts_end(&m->starts, gap, start);
	wanted.bytes = gap->bytes + (start - gap->start);
	m->decoder.thumb = binary_is_thumb(m->binary, start);
	machine_begin(m->binary->machine, &entry);
	symbolic_run(&run, &wanted);
	known = !run.too_large && run.odd_exits == 0 &&
		run.exits > running.doubtful;
	symbolic_run_free(&run);
	m->decoder.thumb = thumb;
	table_set(&m->runs, start, known);
	return known;
}

/* A jump out with a frame must lead to a cold part, not to a function.
 * Otherwise the jump belongs to the next function, and a call before it does
 * not return. */
static bool note_jump(void *owner, uint64_t to, bool bare)
{
	struct running *running = owner;

	if (!bare)
		return !runs_as_function(running->making, to);
	note_exit(running, to);
	return true;
}

/*
 * The return address of the call that does not return. Compilers that keep
 * return addresses on the stack align functions, so the call followed by the
 * aligned next function is the one. On other machines a function that calls
 * others saves its return address, which identifies it as a function.
 */
static uint64_t blame(struct making *m, const struct symbolic_run *run,
		      struct running *running)
{
	const struct code_gap *gap = code_gaps_at(&m->gaps, run->wanted.start);
	uint64_t target = run->odd_from, aligned = 0;
	unsigned count = 0, fitting = 0;
	uint32_t call = run->odd_call;

	if (!m->binary->machine->ra_on_stack)
		return target;
	for (; call != 0; count++) {
		target = symbolic_run_suspect(run, call, &call);
		if (skip_padding(m, gap, target) % FUNCTION_ALIGNMENT == 0) {
			aligned = target;
			fitting++;
		}
	}
	if (count == 1 || fitting == 1)
		return count == 1 ? target : aligned;
	running->unsure = true;
	return target;
}

/*
 * Run a function in full. If it returns with a stack other than at its entry,
 * the run continued into the next function: after a call that does not return,
 * or by an assumed target of a jump. It is run again without that edge; but not
 * if the stack pointer is unknown at the end: then the dropped code would be
 * its own, not the next function's.
 */
static void run_whole(struct symbolic_run *run, struct symbolic_wanted *wanted,
		      struct running *running)
{
	wanted->returns = comes_back;
	wanted->leaves = note_jump;
	wanted->owner = running;
	for (;;) {
		running->doubtful = 0;
		symbolic_run(run, wanted);
		if (run->odd_exits == 0 || run->odd_from == 0 || run->lost ||
		    running->count == LOST_CALLS)
			return;
		if (run->odd_is_call) {
			running->behind[running->count++] =
				blame(running->making, run, running);
		} else {
			wanted->end = run->odd_from;
			running->behind[running->count++] = run->odd_from;
		}
		symbolic_run_free(run);
	}
}

/* Whether the code that was run is a function, and fully known. Code known only
 * by its position must end as a function: cold parts jump back to their
 * function. */
static bool is_function(const struct symbolic_run *run,
			const struct running *running)
{
	if (run->too_large || run->odd_exits > 0)
		return false;
	return function_starts_has(&running->making->starts,
				   run->wanted.start) ||
	       run->exits > running->doubtful;
}

static uint64_t run_function(struct making *m, const struct code_gap *gap,
			     uint64_t start, uint64_t end)
{
	struct symbolic_state entry;
	struct symbolic_run run;
	struct running running = { .making = m };
	bool good;
	struct symbolic_wanted wanted = {
		.decoder = &m->decoder, .start = start, .end = end,
		.bytes = gap->bytes + (start - gap->start), .entry = &entry,
	};

	m->decoder.thumb = binary_is_thumb(m->binary, start);
	machine_begin(m->binary->machine, &entry);
	run_whole(&run, &wanted, &running);
	m->made->functions++;
	good = is_function(&run, &running);
	end = take_run(m, &run, good);
	if (running.unsure)
		end = wanted.end;
	else if (good)
		m->data_end = symbolic_run_unreached(&run, end);
	symbolic_run_free(&run);
	return end;
}

/* A function whose rows are known, cut at the next one. */
struct known {
	struct making *m;
	uint64_t end;
};

static void take_known(void *owner, const struct generated_row *row,
		       uint64_t end)
{
	struct known *known = owner;

	if (end > known->end)
		end = known->end;
	if (row->start < end)
		add_row(known->m, row, end);
}

/* Makes rows for a function. Returns its end; without a table, the end of the
 * run. */
static uint64_t make_function(struct making *m, const struct code_gap *gap,
			      uint64_t start, uint64_t end)
{
	struct known known = { m, end };
	size_t rows = m->made->row_count, count = m->made->count;
	uint64_t bytes = m->made->ruled_bytes, next;

	m->open = false;
	next = debug_rules_rows(&m->debug, start, take_known, &known);
	if (next > start) {
		m->made->functions++;
		return next;
	}
	/* drop rows of an invalid table */
	m->made->row_count = rows;
	m->made->count = count;
	m->made->ruled_bytes = bytes;
	return run_function(m, gap, start, end);
}

static void make_gap(struct making *m, const struct code_gap *gap)
{
	uint64_t at = gap->start;

	while ((at = skip_padding(m, gap, at)) < gap->end) {
		uint64_t end = function_starts_end(&m->starts, gap, at);
		uint64_t next = make_function(m, gap, at, end);

		DEBUG_ASSERT(next > at);
		m->made->code_bytes += (next < end ? next : end) - at;
		if (next < m->data_end)
			next = m->data_end;
		at = next < end ? next : end;
	}
}

static bool has_call(struct machine_decoder *decoder,
		     const struct code_gap *gap)
{
	const struct machine *machine = decoder->machine;
	struct symbolic_state state;
	struct machine_step step;

	symbolic_begin(&state);
	for (uint64_t at = gap->start; at < gap->end;) {
		machine->step(decoder, at, gap->bytes + (at - gap->start),
			      (size_t)(gap->end - at), &state, &step);
		if (step.flow == MACHINE_CALL)
			return true;
		at += step.flow == MACHINE_BAD ? machine->alignment :
			step.size;
	}
	return false;
}

bool generated_rules_wanted(const struct binary *binary, uint64_t bytes_min)
{
	struct machine_decoder decoder = { 0 };
	struct code_gaps gaps;
	bool wanted = false;

	if (!machine_open(&decoder, binary->machine,
			  binary->file->tables.class->big))
		return false;
	code_gaps_find(&gaps, binary, false);
	for (size_t i = 0; i < gaps.count && !wanted; i++)
		wanted = gaps.list[i].end - gaps.list[i].start >= bytes_min &&
			has_call(&decoder, &gaps.list[i]);
	code_gaps_free(&gaps);
	machine_close(&decoder);
	return wanted;
}

bool generated_rules_make(struct generated_rules *made,
			  const struct binary *binary)
{
	struct making m = { .made = made, .binary = binary };

	memset(made, 0, sizeof(*made));
	if (!machine_open(&m.decoder, binary->machine,
			  binary->file->tables.class->big))
		return false;
	debug_rules_open(&m.debug, binary);
	code_gaps_find(&m.gaps, binary, true);
	function_starts_find(&m.starts, binary, &m.gaps, &m.debug, &m.decoder);
	for (size_t i = 0; i < m.gaps.count; i++)
		make_gap(&m, &m.gaps.list[i]);
	machine_close(&m.decoder);
	debug_rules_close(&m.debug);
	table_free(&m.runs);
	code_gaps_free(&m.gaps);
	function_starts_free(&m.starts);
	return true;
}

void generated_rules_free(struct generated_rules *made)
{
	free(made->rows);
	free(made->entries);
	memset(made, 0, sizeof(*made));
}
