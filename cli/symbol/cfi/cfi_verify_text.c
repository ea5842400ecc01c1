/*
 * cfi_verify_text.c: rules and values as text, in readelf's notation: c is the
 * CFA, u unknown, s the same, exp an expression.
 */
#include "cli/symbol/cfi/cfi_verify.h"

#include <inttypes.h>
#include <stdio.h>

const char *cfi_verify_reason_text(enum cfi_verify_reason reason)
{
	static const char *const texts[CFI_VERIFY_REASONS] = {
		[CFI_VERIFY_UNREACHED] = "no known path leads to some code",
		[CFI_VERIFY_BASE] =
			"the CFA's register holds what only running "
			"tells",
		[CFI_VERIFY_SLOT] = "what lies in the stack slot is unknown",
		[CFI_VERIFY_EXPRESSION] = "a DWARF expression that is not "
					  "evaluated",
		[CFI_VERIFY_UNDECODED] = "instructions that are not decoded",
		[CFI_VERIFY_SIGNATURE] = "whether the return address is signed "
					 "differs by path",
		[CFI_VERIFY_SIGNAL] = "the kernel makes this frame",
		[CFI_VERIFY_TOO_LARGE] = "the function is too large",
		[CFI_VERIFY_INVALID] = "its table makes no sense",
		[CFI_VERIFY_NO_CODE] = "its code is not in the file",
	};

	return texts[reason];
}

static void named_offset(const char *name, int64_t offset, char *text,
			 size_t size)
{
	snprintf(text, size, "%s%+" PRId64, name, offset);
}

void cfi_verify_cfa_text(const struct machine *machine,
			 const struct callframe_row *row, char *text,
			 size_t size)
{
	char name[16];

	if (row->cfa_how == CALLFRAME_EXPRESSION)
		snprintf(text, size, "exp");
	else if (row->cfa_how == CALLFRAME_OFFSET)
		named_offset(machine_register_name(machine, row->cfa_reg,
						   name),
			     row->cfa_offset, text, size);
	else
		snprintf(text, size, "none");
}

void cfi_verify_rule_text(const struct machine *machine,
			  const struct callframe_row *row, unsigned column,
			  char *text, size_t size)
{
	int64_t value = row->value[column];
	char name[16];

	switch (row->how[column]) {
	case CALLFRAME_UNDEFINED:
		snprintf(text, size, "u");
		break;
	case CALLFRAME_OFFSET:
		named_offset("c", value, text, size);
		break;
	case CALLFRAME_VAL_OFFSET:
		named_offset("v", value, text, size);
		break;
	case CALLFRAME_REGISTER:
		snprintf(text, size, "%s",
			 machine_register_name(machine, (unsigned)value, name));
		break;
	case CALLFRAME_EXPRESSION:
		snprintf(text, size, "exp");
		break;
	case CALLFRAME_VAL_EXPRESSION:
		snprintf(text, size, "vexp");
		break;
	default:
		snprintf(text, size, "s");
	}
}

void cfi_verify_value_text(const struct machine *machine,
			   struct symbolic_value value, char *text,
			   size_t size)
{
	char name[16];

	switch (value.kind) {
	case SYMBOLIC_ENTRY:
		snprintf(text, size, "the caller's %s",
			 machine_register_name(machine, (unsigned)
				 machine_column(machine, value.reg), name));
		break;
	case SYMBOLIC_CFA:
		named_offset("CFA", value.number, text, size);
		break;
	case SYMBOLIC_ALIGNED:
		named_offset("aligned", value.number, text, size);
		break;
	case SYMBOLIC_DYNAMIC:
		named_offset("dynamic", value.number, text, size);
		break;
	case SYMBOLIC_CONSTANT:
		snprintf(text, size, "%" PRId64, value.number);
		break;
	default:
		snprintf(text, size, "something else");
	}
}
