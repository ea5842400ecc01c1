/*
 * names.c: demangling by libiberty, shortening by our own code. Pure text, any
 * thread (libiberty's style is a global that we never set).
 */
#include "cli/symbol/names/names.h"

#include <assert.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "cli/base/deep_call.h"
#include "unwind/base/assertion.h"

#define TEMPLATE_LEVELS 8	/* of template arguments in a brief name, if
				 * they fit */

/* A name of some hundred characters may expand without bound: its parts refer
 * to each other. A longer result is dropped, and the linker name is used. */
#define SHOWN_MAX (64 * 1024)

/*
 * libiberty refuses names of more than 1024 characters, because it recurses.
 * Measured over 35 kinds of nesting, a level takes at most 500 bytes of stack
 * for each character of the name; this is twice that. Names too long for a
 * thread's stack are demangled on another stack.
 */
#define UNLIMITED_MAX 1024
#define RECURSION_MAX 4096
#define STACK_PER_CHARACTER 1024
#define STACK_BASE (64 * 1024)

static_assert(RECURSION_MAX * STACK_PER_CHARACTER + STACK_BASE <= DEEP_CALL_STACK,
	      "the longest name fits into a stack");

struct demangling {
	const char *symbol;
	bool done;
	struct buffer *out;
	size_t start;
	jmp_buf too_long;
};

/* The demanglers hold no memory during this call. */
static void take_piece(const char *text, size_t size, void *owner)
{
	struct demangling *demangling = owner;

	DEBUG_ASSERT(demangling->out->size >= demangling->start);
	if (demangling->out->size - demangling->start + size > SHOWN_MAX)
		longjmp(demangling->too_long, 1);
	buffer_add(demangling->out, text, size);
}

static bool demangle_cxx(struct demangling *demangling)
{
	const char *symbol = demangling->symbol;
	const int options = DMGL_PARAMS | DMGL_ANSI |
		(strlen(symbol) > UNLIMITED_MAX ? DMGL_NO_RECURSE_LIMIT : 0);

	if (setjmp(demangling->too_long) != 0)
		return false;
	/* Rust's legacy names are C++ names with a hash at the end. */
	return rust_demangle_callback(symbol, options, take_piece,
				      demangling) != 0 ||
		cplus_demangle_v3_callback(symbol, options, take_piece,
					   demangling) != 0;
}

static bool demangle_d(struct buffer *out, const char *symbol)
{
	char *name = dlang_demangle(symbol, DMGL_PARAMS);

	if (name != NULL)
		buffer_string(out, name);
	free(name);
	return name != NULL;
}

static void cut(struct buffer *out, size_t size)
{
	if (out->data != NULL && size < out->size)
		out->data[out->size = size] = 0;
}

/* Runs on a stack with room for it. */
static void demangle(void *owner)
{
	struct demangling *demangling = owner;
	const char *symbol = demangling->symbol;

	if (symbol[1] == 'D')
		demangling->done = strlen(symbol) <= UNLIMITED_MAX &&
			demangle_d(demangling->out, symbol);
	else
		demangling->done = demangle_cxx(demangling);
}

void names_demangle(struct buffer *out, const char *symbol)
{
	struct demangling demangling = {
		.symbol = symbol, .out = out, .start = out->size,
	};
	size_t size = strlen(symbol);

	/* Only names that are certainly mangled: a C function may be called
	 * f__1. */
	if (symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R' ||
				 symbol[1] == 'D') && size <= RECURSION_MAX &&
	    deep_call(STACK_BASE + size * STACK_PER_CHARACTER, demangle,
		       &demangling) && demangling.done)
		return;
	cut(out, demangling.start);
	buffer_string(out, symbol);
}

/* After the bracket that closes the one at *p; NULL if none does. */
static const char *skip_brackets(const char *p)
{
	int depth = 0;

	DEBUG_ASSERT(*p == '<' || *p == '(');
	for (; *p != 0; p++) {
		if (*p == '<' || *p == '(')
			depth++;
		else if ((*p == '>' && p[-1] != '-') || *p == ')')
			depth--;
		if (depth == 0)
			return p + 1;
	}
	return NULL;
}

static const struct {
	const char *from;
	const char *to;
} replacements[] = {
	{ "std::__cxx11::basic_string<char, std::char_traits<char>, "
	  "std::allocator<char> >", "std::string" },
	{ "std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, "
	  "std::allocator<wchar_t> >", "std::wstring" },
	{ "std::basic_string<char, std::char_traits<char>, "
	  "std::allocator<char> >", "std::string" },
	{ "std::basic_string_view<char, std::char_traits<char> >",
	  "std::string_view" },
	{ "std::__1::", "std::" },
	{ "std::__cxx11::", "std::" },
	{ " >", ">" },
};

/* Template arguments that are there by default. */
static const char *const defaults[] = {
	", std::allocator<", ", std::less<", ", std::hash<",
	", std::equal_to<", ", std::char_traits<", ", std::default_delete<",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The end of a default argument at *p, NULL if there is none. */
static const char *skip_default(const char *p)
{
	for (size_t i = 0; i < COUNT(defaults); i++) {
		size_t n = strlen(defaults[i]);
		const char *end;

		if (strncmp(p, defaults[i], n) != 0)
			continue;
		end = skip_brackets(p + n - 1);
		/* It must be last, or followed by another default: else it is
		 * not a default. */
		if (end != NULL && (*end == '>' || *end == ',' ||
				    strncmp(end, " >", 2) == 0))
			return end;
	}
	return NULL;
}

void names_shorten(struct buffer *out, const char *name)
{
	const char *p = name;

	while (*p != 0) {
		const char *next = *p == ',' ? skip_default(p) : NULL;
		size_t i = 0;

		if (next != NULL) {
			p = next;
			continue;
		}
		if (*p == 's' || *p == ' ')
			for (i = 0; i < COUNT(replacements); i++)
				if (strncmp(p, replacements[i].from,
					    strlen(replacements[i].from)) == 0)
					break;
		if ((*p == 's' || *p == ' ') && i < COUNT(replacements)) {
			buffer_string(out, replacements[i].to);
			p += strlen(replacements[i].from);
		} else {
			buffer_add(out, p++, 1);
		}
	}
}

/* The length of an operator's name with < or ( in it, if one begins here; else
 * 0. */
static size_t operator_length(const char *p)
{
	static const char *const signs[] = { "()", "<<=", "<=>", "<<", "<=",
		"<", ">>=", ">>", ">=", ">", "->*", "->" };

	if (strncmp(p, "operator", 8) != 0)
		return 0;
	for (size_t i = 0; i < COUNT(signs); i++)
		if (strncmp(p + 8, signs[i], strlen(signs[i])) == 0)
			return 8 + strlen(signs[i]);
	return 0;
}

/* The length of a name with brackets in it, if one begins here, up to what may
 * follow; else 0. */
static size_t bracket_name(const char *p)
{
	return strncmp(p, "(anonymous namespace)", 21) == 0 ? 21 :
		strncmp(p, "{lambda(", 8) == 0 ? 7 : 0;
}

/* Copy without parameter lists, and without template arguments nested deeper
 * than `depth`. */
static void strip(struct buffer *out, const char *p, unsigned depth)
{
	unsigned level = 0;

	while (*p != 0) {
		size_t n = operator_length(p);
		const char *end = NULL;

		if (n == 0)
			n = bracket_name(p);
		if (n > 0) {
			buffer_add(out, p, n);
			p += n;
			continue;
		}
		if ((*p == '(' && level == 0) ||
		    (*p == '<' && level == depth))
			end = skip_brackets(p);
		if (end == NULL) {
			level += *p == '<';
			level -= *p == '>' && level > 0 && p[-1] != '-';
			buffer_add(out, p++, 1);
			continue;
		}
		if (*p == '<')
			buffer_string(out, "<>");
		p = end;
		if (strncmp(p, " const", 6) == 0 && (p[6] == 0 || p[6] == ':'))
			p += 6;
	}
}

/* After the return type, which only demangled templates have: after the last
 * blank outside brackets before the parameters. A name without parameters is
 * not demangled: code generated at run time may have any name. */
static const char *skip_result(const char *name)
{
	const char *start = name;
	int depth = 0;

	for (const char *p = name; *p != 0; p++) {
		if (strncmp(p, "operator", 8) == 0 && depth == 0)
			return start;
		if (*p == '(' && depth == 0 && bracket_name(p) == 0)
			return start;
		if (strchr("<({[", *p) != NULL)
			depth++;
		else if ((*p == '>' && p > name && p[-1] != '-') ||
			 *p == ')' || *p == '}' || *p == ']')
			depth--;
		else if (*p == ' ' && depth == 0 && p[1] != '[')
			start = p + 1;
	}
	return name;
}

/* The name without arguments, after as few outer scopes as needed to fit
 * `width`; if it never fits, after all. */
static const char *inner_scopes(const char *name, size_t width)
{
	const char *inner = name, *end = name + strlen(name);
	int depth = 0;

	for (const char *p = name; *p != 0; p++) {
		if (*p == '(' || *p == '{')
			depth++;
		else if (*p == ')' || *p == '}')
			depth--;
		if (depth != 0 || strncmp(p, "::", 2) != 0)
			continue;
		inner = p + 2;
		if ((size_t)(end - inner) <= width)
			break;
	}
	return inner;
}

void names_brief(struct buffer *out, const char *name, size_t width)
{
	struct buffer brief = { 0 };
	const char *text;
	size_t size, head;

	name = skip_result(name);
	/* `<alloc::…>` at the start is a Rust type, not an argument list. */
	for (unsigned depth = TEMPLATE_LEVELS; ; depth--) {
		buffer_clear(&brief);
		strip(&brief, name, depth);
		if (brief.size <= width || name[0] == '<' || depth == 0)
			break;
	}
	text = brief.data ? brief.data : "";
	size = brief.size;
	if (size > width && width > 2 && name[0] != '<') {
		text = inner_scopes(text, width - 2);
		size = strlen(text);
		if (size + 2 <= width && size < brief.size)
			buffer_string(out, "..");
	}
	if (size <= width) {
		buffer_add(out, text, size);
	} else {
		head = width > 8 ? width / 2 - 1 : width / 2;
		buffer_add(out, text, head);
		buffer_string(out, "..");
		buffer_string(out, text + size - (width - head - 2));
	}
	buffer_free(&brief);
}

bool names_any_form(const char *name,
		    bool (*matches)(void *owner, const char *form),
		    void *owner)
{
	struct buffer shorter = { 0 }, form = { 0 };
	bool found = matches(owner, name);
	size_t before = 0;
	const char *plain;

	/* Most are C names, which have one form. */
	if (found || strpbrk(name, "<( ") == NULL)
		return found;
	names_shorten(&shorter, name);
	assert(shorter.data != NULL);
	found = matches(owner, shorter.data);
	plain = skip_result(shorter.data);
	for (unsigned depth = TEMPLATE_LEVELS + 1; depth-- > 0 && !found; ) {
		buffer_clear(&form);
		strip(&form, plain, depth);
		/* Equal size: nothing more was left out. */
		if (form.size > 0 && form.size != before)
			found = matches(owner, form.data);
		before = form.size;
		if (plain[0] == '<')
			break;
	}
	buffer_free(&shorter);
	buffer_free(&form);
	return found;
}
