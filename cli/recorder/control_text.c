/*
 * control_text.c: see control_text.h.
 */
#include "cli/recorder/control_text.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "unwind/base/assertion.h"

enum control_text_named { NEVER, PERHAPS, ALWAYS };

static const struct {
	const char *word;
	enum control_what what;
	enum control_text_named named;
} control_text_words[] = {
	{ "start", CONTROL_START, NEVER },
	{ "stop", CONTROL_STOP, NEVER },
	{ "toggle", CONTROL_TOGGLE, NEVER },
	{ "snapshot", CONTROL_SNAPSHOT, PERHAPS },
	{ "clear", CONTROL_CLEAR, NEVER },
	{ "marker", CONTROL_MARKER, ALWAYS },
	{ "sync", CONTROL_SYNC, NEVER },
	{ "report", CONTROL_REPORT, NEVER },
};

#define CONTROL_TEXT_WORDS \
	(sizeof(control_text_words) / sizeof(control_text_words[0]))

size_t control_text_find(const char *line, size_t n, char c)
{
	const char *at = memchr(line, c, n);

	return at ? (size_t)(at - line) : n;
}

_Static_assert(GT_NAME_MAX == 256, "as CONTROL_TOO_LONG says");

bool control_text_refuse(struct control_request *request,
				const char *why)
{
	request->err = -EINVAL;
	snprintf(request->message, sizeof(request->message), "%s", why);
	return false;
}

static bool control_text_is_number(const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (name[i] < '0' || name[i] > '9')
			return false;
	return true;
}

static bool control_text_name(const char *name, size_t n,
			      struct control_request *request)
{
	if (n >= GT_NAME_MAX)
		return control_text_refuse(request, CONTROL_TOO_LONG);
	if (!n || name[0] == ' ' || name[n - 1] == ' ')
		return control_text_refuse(request, "got an empty name, or "
					   "one with blanks around it");
	/* snapshots without a name are named by their number */
	if (control_text_is_number(name, n))
		return control_text_refuse(request, "got a number as a name: "
					   "use a name that is not a number");
	DEBUG_ASSERT(n < sizeof(request->name));
	memcpy(request->name, name, n);
	return true;
}

bool control_text_read(const char *line, size_t n,
		       struct control_request *request)
{
	size_t word = control_text_find(line, n, ' '), i;
	bool blank = word < n;

	memset(request, 0, sizeof(*request));
	if (!control_is_plain(line, n))
		return control_text_refuse(request, "got a request with "
					   "control characters");
	for (i = 0; i < CONTROL_TEXT_WORDS; i++)
		if (strlen(control_text_words[i].word) == word &&
		    memcmp(line, control_text_words[i].word, word) == 0)
			break;
	if (i == CONTROL_TEXT_WORDS)
		return control_text_refuse(request, "does not know this "
					   "request: use the gnomon version "
					   "that started the recording");
	request->what = control_text_words[i].what;
	if (blank && control_text_words[i].named == NEVER)
		return control_text_refuse(request, "got a name, but this "
					   "request takes none");
	if (!blank && control_text_words[i].named == ALWAYS)
		return control_text_refuse(request, "got no name, but this "
					   "request needs one");
	return !blank || control_text_name(line + word + 1, n - word - 1,
					   request);
}

/* Writes a field and its end character at to[at]; returns the position of the
 * next field. Replaces control characters in the field. */
static size_t control_text_field(char to[CONTROL_ANSWER_MAX], size_t at,
				 const char *field, char end)
{
	size_t n = strlen(field), i;

	assert(n < CONTROL_ANSWER_MAX - at);
	for (i = 0; i < n; i++)
		to[at + i] = (unsigned char)field[i] < ' ' ? '?' : field[i];
	to[at + n] = end;
	return at + n + 1;
}

size_t control_text_answer(char to[CONTROL_ANSWER_MAX],
			   const struct control_request *request, bool on,
			   const char *trace)
{
	size_t n = snprintf(to, CONTROL_ANSWER_MAX, "%s\t%d\t",
			    !request->err		  ? "ok" :
			    request->err == -EALREADY ? "no" : "error",
			    on);

	n = control_text_field(to, n, request->name, '\t');
	n = control_text_field(to, n, trace, '\t');
	return control_text_field(to, n, request->message, '\n');
}
