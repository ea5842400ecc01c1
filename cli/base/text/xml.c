/*
 * xml.c: see xml.h.
 */
#include "cli/base/text/xml.h"

#include <string.h>

#include "cli/base/text/utf8.h"

static const char *replacement(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\n': case '\t':
		return NULL;
	}
	return (unsigned char)c < ' ' || c == 0x7f ? "?" : NULL;
}

void xml_text(struct buffer *out, const char *text)
{
	while (*text != 0) {
		unsigned size = utf8_length(text);
		const char *instead = size == 1 ? replacement(*text) : NULL;

		if (size == 0 || strncmp(text, "\xef\xbf\xbe", 3) == 0 ||
		    strncmp(text, "\xef\xbf\xbf", 3) == 0)
			instead = "?";
		if (instead != NULL)
			buffer_string(out, instead);
		else
			buffer_add(out, text, size);
		text += size ? size : 1;
	}
}

void xml_attribute(struct buffer *out, const char *name, const char *value)
{
	buffer_printf(out, " %s=\"", name);
	xml_text(out, value);
	buffer_string(out, "\"");
}
