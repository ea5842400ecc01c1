/*
 * function_starts.c: see function_starts.h.
 */
#include "cli/symbol/cfi/function_starts.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/base/sort.h"
#include "cli/symbol/cfi/code_words.h"
#include "cli/symbol/cfi/symbolic_run.h"

#define ENTRY_BYTES 96		/* of the program's entry code, at most */

static void add(void *owner, uint64_t address)
{
	struct function_starts *starts = owner;
	unsigned alignment = starts->binary->machine->alignment;

	address &= ~(uint64_t)(alignment - 1);
	if (starts->count >= FUNCTION_STARTS_MAX ||
	    code_gaps_at(starts->gaps, address) == NULL)
		return;
	GROW(starts->list, starts->count, starts->capacity);
	starts->list[starts->count++] = address;
}

static void add_called(struct function_starts *starts,
		       struct machine_decoder *decoder,
		       const struct code_gap *gap)
{
	const struct machine *machine = starts->binary->machine;
	struct symbolic_state state;
	struct machine_step step;

	symbolic_begin(&state);
	decoder->thumb = binary_is_thumb(starts->binary, gap->start);
	for (uint64_t at = gap->start; at < gap->end;) {
		machine->step(decoder, at, gap->bytes + (at - gap->start),
			      (size_t)(gap->end - at), &state, &step);
		if (step.flow == MACHINE_CALL && step.has_target)
			add(starts, step.target);
		at += step.flow == MACHINE_BAD ? machine->alignment :
			step.size;
	}
}

/* The entry, and the addresses that it passes to the C library: main, and
 * others in old programs. */
static void add_entry(struct function_starts *starts,
		      struct machine_decoder *decoder)
{
	const struct binary *binary = starts->binary;
	uint64_t entry = binary->file->tables.header.e_entry;
	uint64_t start = entry & ~(uint64_t)(binary->machine->alignment - 1);
	struct symbolic_state state;
	struct symbolic_run run;
	struct symbolic_wanted wanted = { .decoder = decoder, .start = start,
					  .entry = &state };
	unsigned size = ENTRY_BYTES;

	add(starts, start);
	while (size > 0 && wanted.bytes == NULL) {
		wanted.bytes = binary_code(binary, start, size);
		wanted.end = start + size;
		size /= 2;
	}
	if (wanted.bytes == NULL)
		return;
	decoder->thumb = entry % 2 != 0;
	machine_begin(binary->machine, &state);
	symbolic_run(&run, &wanted);
	for (size_t i = 0; i < run.count; i++) {
		const struct symbolic_value *reg = run.nodes[i].state.reg;

		if (run.nodes[i].flow != MACHINE_CALL)
			continue;
		for (unsigned r = 0; r < SYMBOLIC_FLOATS; r++)
			if (reg[r].kind == SYMBOLIC_CONSTANT)
				add(starts, (uint64_t)reg[r].number);
		break;
	}
	symbolic_run_free(&run);
}

static int by_number(const void *a, const void *b)
{
	return sort_up(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* A function's cold part, "name.cold", "name.cold.3", which is entered with a
 * frame. */
static bool is_cold(const char *name)
{
	const char *part = strstr(name, ".cold");

	return part != NULL && (part[5] == 0 || part[5] == '.');
}

static void order(struct function_starts *starts)
{
	size_t kept = 0;

	SORT(starts->list, starts->count, by_number);
	for (size_t i = 0; i < starts->count; i++)
		if (kept == 0 || starts->list[kept - 1] != starts->list[i])
			starts->list[kept++] = starts->list[i];
	starts->count = kept;
}

void function_starts_find(struct function_starts *starts,
			  const struct binary *binary,
			  const struct code_gaps *gaps,
			  const struct debug_rules *debug,
			  struct machine_decoder *decoder)
{
	const struct symtab *symbols = &binary->symbols;

	*starts = (struct function_starts){ .binary = binary, .gaps = gaps };
	for (size_t i = 0; i < symbols->count; i++)
		if (!is_cold(symbols->list[i].name))
			add(starts, symbols->list[i].address);
	add_entry(starts, decoder);
	debug_rules_starts(debug, add, starts);
	code_words(binary, add, starts);
	for (size_t i = 0; i < gaps->count; i++)
		add_called(starts, decoder, &gaps->list[i]);
	order(starts);
}

void function_starts_free(struct function_starts *starts)
{
	free(starts->list);
	memset(starts, 0, sizeof(*starts));
}

static bool lies_behind(const void *list, size_t i, uint64_t address)
{
	return ((const uint64_t *)list)[i] > address;
}

bool function_starts_has(const struct function_starts *starts,
			 uint64_t address)
{
	size_t i = search_first(starts->list, starts->count, lies_behind,
				address);

	return i > 0 && starts->list[i - 1] == address;
}

uint64_t function_starts_end(const struct function_starts *starts,
			     const struct code_gap *gap, uint64_t address)
{
	size_t i = search_first(starts->list, starts->count, lies_behind,
				address);

	return i < starts->count && starts->list[i] < gap->end ?
		starts->list[i] : gap->end;
}
