/*
 * annotate_mips.c: names the callees in position-independent MIPS code. A call
 * uses the register t9, loaded before from the file's global offset table:
 *
 *	ld	$t9, -0x7f78($gp)	the function, or the page that it is in
 *	daddiu	$t9, $t9, 0xcec		for the latter
 *	jalr	$t9
 *
 * gp is assumed to have its value from the function's entry. At a branch
 * target, or after any other write to t9, its content is unknown.
 *
 * Called by the main thread.
 */
#include "cli/annotate/annotate.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define REGISTER " $t9"

/* The content of t9. */
struct content {
	bool known;
	bool loaded;		/* by the last instruction that wrote to it */
	uint64_t slot;		/* where it was loaded from */
	uint64_t target;	/* including what was added */
};

/* Parses a number followed by this text; false: it is not that. */
static bool number_before(const char *text, const char *behind, int64_t *number)
{
	char *end;

	*number = strtoll(text, &end, 0);
	return end != text && strcmp(end, behind) == 0;
}

/* The operands after t9, if t9 is the first and the mnemonic is this one. */
static const char *operands_of(const char *text, const char *mnemonic)
{
	size_t size = strlen(mnemonic);

	if (strncmp(text, mnemonic, size) != 0 ||
	    strncmp(text + size, REGISTER, strlen(REGISTER)) != 0)
		return NULL;
	return text + size + strlen(REGISTER);
}

static void name_call(const struct annotate_piece *piece,
		      const struct content *content,
		      struct annotate_instruction *at)
{
	uint64_t offset = 0;
	const char *name = NULL;

	if (content->known && content->loaded)
		name = code_slot(piece->code, content->slot);
	else if (content->known)
		name = code_name(piece->code, content->target, &offset);
	if (name != NULL && offset == 0)
		annotate_name_call(at, name);
}

/* Applies an instruction's effect on t9. */
static void follow(const struct annotate_piece *piece, uint64_t gp,
		   const char *text, struct content *content)
{
	const char *operands, *first = strchr(text, ' ');
	int64_t number;

	operands = operands_of(text, "ld");
	if (operands != NULL && strncmp(operands, ", ", 2) == 0 &&
	    number_before(operands + 2, "($gp)", &number)) {
		content->slot = gp + (uint64_t)number;
		content->loaded = true;
		content->known = code_slot_target(piece->code, content->slot,
						  &content->target);
		return;
	}
	operands = operands_of(text, "daddiu");
	if (operands != NULL &&
	    strncmp(operands, "," REGISTER ", ", strlen("," REGISTER ", ")) ==
	    0 && number_before(operands + strlen("," REGISTER ", "), "",
			       &number) && content->target != 0) {
		content->target += (uint64_t)number;
		content->loaded = false;
		return;
	}
	if (first != NULL && strncmp(first, REGISTER, strlen(REGISTER)) == 0)
		content->known = false;
}

void annotate_name_mips(const struct annotate_piece *piece,
			struct annotate_listing *listing)
{
	struct content content = { 0 };
	uint64_t gp;

	if (!code_gp(piece->code, &gp))
		return;
	for (size_t i = 0; i < listing->count; i++) {
		struct annotate_instruction *at = &listing->list[i];

		if (at->label)
			content.known = false;
		if (strcmp(at->text, "jalr" REGISTER) == 0 ||
		    strcmp(at->text, "jr" REGISTER) == 0) {
			name_call(piece, &content, at);
			content.known = false;
			continue;
		}
		follow(piece, gp, at->text, &content);
	}
}
