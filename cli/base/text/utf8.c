/*
 * utf8.c: see utf8.h. No state: any thread.
 */
#include "cli/base/text/utf8.h"

unsigned utf8_length(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 :
		s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) ||
		       (s[0] == 0xed && s[1] > 0x9f)))
		return 0;	/* overlong form, or a surrogate */
	if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) ||
		       (s[0] == 0xf4 && s[1] > 0x8f)))
		return 0;
	return n;
}

void utf8_add(struct buffer *out, const char *text)
{
	const char *from = text;

	while (*text != 0) {
		unsigned n = utf8_length(text);

		if (n > 0) {
			text += n;
			continue;
		}
		buffer_add(out, from, (size_t)(text - from));
		buffer_string(out, "\xef\xbf\xbd");
		from = ++text;
	}
	buffer_add(out, from, (size_t)(text - from));
}

uint32_t utf8_number(struct intern *set, const char *text)
{
	LOCAL_BUFFER valid = { 0 };

	utf8_add(&valid, text);
	return intern_number(set, buffer_text(&valid), valid.size);
}
