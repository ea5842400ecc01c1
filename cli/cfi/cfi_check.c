/*
 * cfi_check.c: `gnomon cfi check`: compares the unwind table of each function
 * with its code (cfi_verify.h).
 */
#include <inttypes.h>
#include <string.h>

#include "cli/base/terminal/log.h"
#include "cli/base/text/quantity.h"
#include "cli/cfi/cfi_verbs.h"
#include "cli/symbol/cfi/cfi_verify.h"
#include "cli/symbol/cfi/binary.h"

struct totals {
	size_t functions, verdicts[CFI_VERIFY_VERDICTS];
	size_t reasons[CFI_VERIFY_REASONS];
	size_t parts, assumed, instructions, undecided;
};

static const char *const column_words[] = {
	"CFA", "return address" };

static void print_finding(const struct cfi_request *request,
			  const struct binary *binary,
			  const struct callframe_entry *entry,
			  const struct cfi_verify_finding *finding)
{
	const struct machine *machine = binary->machine;
	unsigned ra = callframe_ra(&binary->table, entry);
	LOCAL_BUFFER name = { 0 };
	char text[16];
	const char *what = finding->column == CFI_VERIFY_CFA ?
		column_words[0] : finding->column == ra ? column_words[1] :
		machine_register_name(machine, finding->column, text);

	binary_name(binary, entry->start, &name);
	buffer_printable(&name);
	fprintf(request->json.out, "  %s: 0x%" PRIx64 ": %s: the table says "
		"%s, the code %s; %zu instruction%s\n", buffer_text(&name),
		finding->address, what, finding->table, finding->code,
		finding->instructions, finding->instructions == 1 ? "" : "s");
}

static void json_finding(struct json *json, const struct binary *binary,
			 const struct callframe_entry *entry,
			 const struct cfi_verify_finding *finding)
{
	unsigned ra = callframe_ra(&binary->table, entry);
	LOCAL_BUFFER name = { 0 };
	char text[16];

	binary_name(binary, entry->start, &name);
	json_object(json, NULL);
	json_string(json, "function", buffer_text(&name));
	json_uint(json, "start", entry->start);
	json_uint(json, "end", entry->end);
	json_uint(json, "address", finding->address);
	json_string(json, "what", finding->column == CFI_VERIFY_CFA ? "cfa" :
		    finding->column == ra ? "return address" :
		    machine_register_name(binary->machine, finding->column,
					  text));
	json_string(json, "table", finding->table);
	json_string(json, "code", finding->code);
	json_uint(json, "instructions", finding->instructions);
	json_end_object(json);
}

static void add(struct totals *totals, const struct cfi_verify_result *one)
{
	totals->functions++;
	totals->verdicts[one->verdict]++;
	totals->parts += one->starts_in_body;
	totals->assumed += one->assumed > 0;
	totals->instructions += one->instructions;
	totals->undecided += one->undecided;
	if (one->verdict != CFI_VERIFY_UNDECIDABLE)
		return;
	for (unsigned i = 0; i < CFI_VERIFY_REASONS; i++)
		totals->reasons[i] += one->reasons >> i & 1;
}

/* If several tables have the same range, only the first one counts:
 * .eh_frame's. */
static void check_all(struct cfi_request *request, const struct binary *binary,
		      struct cfi_verifier *verifier, struct totals *totals)
{
	const struct callframe *table = &binary->table;

	for (size_t i = 0; i < table->count; i++) {
		const struct callframe_entry *entry = &table->entries[i];
		const char *symbol = binary_symbol_at(binary, entry->start);
		struct cfi_verify_result result;

		if (i > 0 && entry[-1].start == entry->start)
			continue;
		cfi_verify_entry(verifier, entry, symbol != NULL &&
				 strstr(symbol, ".cold") == NULL &&
				 strstr(symbol, ".part") == NULL, &result);
		add(totals, &result);
		for (size_t k = 0; k < result.count; k++)
			if (request->as_json)
				json_finding(&request->json, binary, entry,
					     &result.findings[k]);
			else
				print_finding(request, binary, entry,
					      &result.findings[k]);
		cfi_verify_free(&result);
	}
}

static void print_totals(FILE *out, const struct binary *binary,
			 const struct totals *totals)
{
	fprintf(out, "%s: %zu functions checked, %zu agreed, %zu undecidable, "
		"%zu disagreed\n", binary->file->path, totals->functions,
		totals->verdicts[CFI_VERIFY_AGREES],
		totals->verdicts[CFI_VERIFY_UNDECIDABLE],
		totals->verdicts[CFI_VERIFY_DISAGREES]);
	for (enum cfi_verify_reason i = 0; i < CFI_VERIFY_REASONS; i++)
		if (totals->reasons[i] > 0)
			fprintf(out, "  undecidable: %zu: %s\n",
				totals->reasons[i], cfi_verify_reason_text(i));
	fprintf(out, "  %zu instructions; %zu functions start inside a frame; "
		"in %zu, indirect jumps were assumed to reach code without "
		"other predecessors\n", totals->instructions, totals->parts,
		totals->assumed);
	if (binary->table.left_out > 0)
		fprintf(out, "  %zu invalid records in its tables\n",
			binary->table.left_out);
}

static void json_totals(struct json *json, const struct binary *binary,
			const struct totals *totals)
{
	json_object(json, "summary");
	json_uint(json, "functions", totals->functions);
	json_uint(json, "agreed", totals->verdicts[CFI_VERIFY_AGREES]);
	json_uint(json, "undecidable",
		  totals->verdicts[CFI_VERIFY_UNDECIDABLE]);
	json_uint(json, "disagreed", totals->verdicts[CFI_VERIFY_DISAGREES]);
	json_uint(json, "instructions", totals->instructions);
	json_uint(json, "parts", totals->parts);
	json_uint(json, "assumed", totals->assumed);
	json_uint(json, "left_out", binary->table.left_out);
	json_object(json, "reasons");
	for (enum cfi_verify_reason i = 0; i < CFI_VERIFY_REASONS; i++)
		if (totals->reasons[i] > 0)
			json_uint(json, cfi_verify_reason_text(i),
				  totals->reasons[i]);
	json_end_object(json);
	json_end_object(json);
}

enum exit_status cfi_check(struct cfi_request *request, const char *path)
{
	struct totals totals = { 0 };
	struct cfi_verifier verifier;
	struct binary binary;
	const char *wrong = binary_open_named(&binary, path,
					      &request->places);

	if (wrong != NULL) {
		log_error("%s: %s", path, wrong);
		return EXIT_NOTHING;
	}
	if (!cfi_verify_open(&verifier, &binary.table, &binary.symbols)) {
		log_error("%s: Capstone cannot disassemble code of this "
			  "machine", path);
		binary_close(&binary);
		return EXIT_NOTHING;
	}
	if (request->as_json) {
		json_object(&request->json, NULL);
		json_string(&request->json, "binary", path);
		json_array(&request->json, "disagreements");
	}
	check_all(request, &binary, &verifier, &totals);
	if (request->as_json) {
		json_end_array(&request->json);
		json_totals(&request->json, &binary, &totals);
		json_end_object(&request->json);
	} else {
		print_totals(request->json.out, &binary, &totals);
	}
	cfi_verify_close(&verifier);
	binary_close(&binary);
	return totals.verdicts[CFI_VERIFY_DISAGREES] > 0 ? EXIT_NO :
		EXIT_COMPLETE;
}
