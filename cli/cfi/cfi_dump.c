/*
 * cfi_dump.c: `gnomon cfi dump`: prints the rows of unwind tables beside the
 * instructions that they cover. Rules are written as by readelf (c: the CFA),
 * columns by register names.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/cfi/cfi_verbs.h"
#include "cli/symbol/cfi/cfi_verify.h"
#include "cli/symbol/cfi/binary.h"
#include "cli/symbol/names/names.h"

#define RULE_WIDTH 30		/* columns of text before the code */
#define CLONE " [clone "	/* suffix that demanglers add to a name */

struct dump {
	struct cfi_request *request;
	const struct binary *binary;
	struct machine_decoder decoder;
	const struct callframe_entry *entry;
};

static const char *source_text(unsigned source)
{
	static const char *const texts[] = {
		".eh_frame", ".debug_frame", ".ARM.exidx" };

	return texts[source];
}

static const char *column_name(const struct dump *dump, unsigned column,
			       char text[16])
{
	return column == callframe_ra(&dump->binary->table, dump->entry) ?
		"ra" : machine_register_name(dump->binary->machine, column,
					     text);
}

/* ---- text ---- */

static void row_text(const struct dump *dump, const struct callframe_row *row,
		     struct buffer *text)
{
	const struct machine *machine = dump->binary->machine;
	char rule[48], name[16];

	cfi_verify_cfa_text(machine, row, rule, sizeof(rule));
	buffer_printf(text, "CFA=%s", rule);
	for (unsigned i = 0; i < CALLFRAME_COLUMNS; i++) {
		if (row->how[i] == CALLFRAME_UNSPECIFIED)
			continue;
		cfi_verify_rule_text(machine, row, i, rule, sizeof(rule));
		buffer_printf(text, " %s=%s", column_name(dump, i, name),
			      rule);
	}
	if (row->signs)
		buffer_string(text, " signed");
}

/* Disassembles one instruction; returns its size. */
static size_t disassemble(struct dump *dump, uint64_t address,
			  const uint8_t *bytes, size_t left,
			  struct buffer *text)
{
	const struct machine *machine = dump->binary->machine;
	cs_insn *in = dump->decoder.instruction;
	csh handle = dump->entry->thumb ? dump->decoder.thumb_handle :
		dump->decoder.handle;
	const uint8_t *at = bytes;

	if (cs_disasm_iter(handle, &at, &left, &address, in)) {
		buffer_printf(text, "%s%s%s", in->mnemonic,
			      in->op_str[0] ? " " : "", in->op_str);
		return in->size;
	}
	buffer_string(text, "(unknown to Capstone)");
	for (unsigned i = 0; i < machine->alignment && i < left; i++)
		buffer_printf(text, " %02x", bytes[i]);
	return machine->alignment < left ? machine->alignment : left;
}

static void print_code(struct dump *dump, const struct callframe_row *row,
		       const char *rule)
{
	FILE *out = dump->request->json.out;
	const uint8_t *bytes = binary_code(dump->binary, row->start,
					   row->end - row->start);
	LOCAL_BUFFER text = { 0 };

	if (bytes == NULL || dump->request->rules_only) {
		fprintf(out, "  0x%" PRIx64 "  %s\n", row->start, rule);
		return;
	}
	for (uint64_t at = row->start; at < row->end;) {
		size_t size;

		buffer_clear(&text);
		size = disassemble(dump, at, bytes + (at - row->start),
				   row->end - at, &text);
		if (at == row->start && strlen(rule) > RULE_WIDTH)
			fprintf(out, "  %s\n", rule);
		fprintf(out, "  %-*s  0x%" PRIx64 "  %s\n", RULE_WIDTH,
			at == row->start && strlen(rule) <= RULE_WIDTH ?
			rule : "", at, buffer_text(&text));
		at += size;
	}
}

static bool print_row(void *owner, const struct callframe_row *row)
{
	struct dump *dump = owner;
	LOCAL_BUFFER text = { 0 };

	row_text(dump, row, &text);
	print_code(dump, row, buffer_text(&text));
	return true;
}

/* ---- JSON ---- */

static void json_code(struct dump *dump, const struct callframe_row *row)
{
	struct json *json = &dump->request->json;
	const uint8_t *bytes = binary_code(dump->binary, row->start,
					   row->end - row->start);
	LOCAL_BUFFER text = { 0 };

	if (bytes == NULL || dump->request->rules_only)
		return;
	json_array(json, "instructions");
	for (uint64_t at = row->start; at < row->end;) {
		size_t size;

		buffer_clear(&text);
		size = disassemble(dump, at, bytes + (at - row->start),
				   row->end - at, &text);
		json_object(json, NULL);
		json_uint(json, "address", at);
		json_string(json, "text", buffer_text(&text));
		json_end_object(json);
		at += size;
	}
	json_end_array(json);
}

static bool json_row(void *owner, const struct callframe_row *row)
{
	struct dump *dump = owner;
	struct json *json = &dump->request->json;
	const struct machine *machine = dump->binary->machine;
	char rule[48], name[16];

	json_object(json, NULL);
	json_uint(json, "start", row->start);
	json_uint(json, "end", row->end);
	cfi_verify_cfa_text(machine, row, rule, sizeof(rule));
	json_string(json, "cfa", rule);
	json_object(json, "registers");
	for (unsigned i = 0; i < CALLFRAME_COLUMNS; i++) {
		if (row->how[i] == CALLFRAME_UNSPECIFIED)
			continue;
		cfi_verify_rule_text(machine, row, i, rule, sizeof(rule));
		json_string(json, column_name(dump, i, name), rule);
	}
	json_end_object(json);
	json_bool(json, "signed", row->signs);
	json_code(dump, row);
	json_end_object(json);
	return true;
}

/* ---- functions ---- */

static void dump_entry(struct dump *dump, const struct callframe_entry *entry)
{
	struct cfi_request *request = dump->request;
	struct json *json = &request->json;
	LOCAL_BUFFER name = { 0 };
	bool good;

	dump->entry = entry;
	binary_name(dump->binary, entry->start, &name);
	buffer_printable(&name);
	if (request->as_json) {
		json_object(json, NULL);
		json_string(json, "function", buffer_text(&name));
		json_uint(json, "start", entry->start);
		json_uint(json, "end", entry->end);
		json_string(json, "table", source_text(entry->source));
		json_array(json, "rows");
		good = callframe_rows(&dump->binary->table, entry, json_row,
				      dump);
		json_end_array(json);
		json_bool(json, "whole", good);
		json_end_object(json);
		return;
	}
	fprintf(json->out, "%s: 0x%" PRIx64 " to 0x%" PRIx64 ", %s\n",
		buffer_text(&name), entry->start, entry->end,
		source_text(entry->source));
	if (!callframe_rows(&dump->binary->table, entry, print_row, dump))
		fprintf(json->out, "  the remaining rows are invalid\n");
}

/* Whether `name` is the function's name, or that of a part or copy made by the
 * compiler: the function's name, followed by `mark`. */
static bool is_name_of(const char *function, const char *name, const char *mark)
{
	size_t size = strlen(function);

	return strncmp(name, function, size) == 0 &&
		(name[size] == 0 ||
		 strncmp(name + size, mark, strlen(mark)) == 0);
}

static bool is_wanted(const struct dump *dump,
		      const struct callframe_entry *entry, const char *function)
{
	const char *symbol = binary_symbol_at(dump->binary, entry->start);
	LOCAL_BUFFER brief = { 0 };
	LOCAL_BUFFER whole = { 0 };

	if (function == NULL)
		return true;
	binary_name(dump->binary, entry->start, &brief);
	if (symbol != NULL)
		names_demangle(&whole, symbol);
	return (symbol != NULL && is_name_of(function, symbol, ".")) ||
		is_name_of(function, buffer_text(&whole), CLONE) ||
		is_name_of(function, buffer_text(&brief), CLONE);
}

static size_t dump_all(struct dump *dump, const char *function)
{
	const struct callframe *table = &dump->binary->table;
	size_t shown = 0;

	for (size_t i = 0; i < table->count; i++)
		if (is_wanted(dump, &table->entries[i], function)) {
			dump_entry(dump, &table->entries[i]);
			shown++;
		}
	return shown;
}

enum exit_status cfi_dump(struct cfi_request *request, const char *path,
			  const char *function)
{
	struct dump dump = { .request = request };
	enum exit_status status = EXIT_COMPLETE;
	struct binary binary;
	const char *wrong = binary_open_named(&binary, path,
					      &request->places);

	if (wrong != NULL) {
		log_error("%s: %s", path, wrong);
		return EXIT_NOTHING;
	}
	dump.binary = &binary;
	if (!machine_open(&dump.decoder, binary.machine,
			  binary.file->tables.class->big)) {
		log_error("%s: Capstone cannot disassemble code of this "
			  "machine", path);
		status = EXIT_NOTHING;
	} else if (dump_all(&dump, function) == 0) {
		if (function != NULL)
			log_error("%s: no unwind table covers a function %s: "
				  "leave the name out to dump all functions",
				  path, function);
		else
			log_error("%s: no unwind tables: make rules with "
				  "`gnomon cfi prepare`", path);
		status = EXIT_NOTHING;
	}
	machine_close(&dump.decoder);
	binary_close(&binary);
	return status;
}
