/*
 * utf8.c: see utf8.h. No state: any thread.
 */
#include "cli/base/text/utf8.h"

unsigned utf8_decode(const char *text, size_t size, uint32_t *code)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t value;
	unsigned n;

	if (size == 0)
		return 0;
	n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 :
		s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
	if (n > size)
		return 0;
	value = n == 1 ? s[0] : s[0] & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (s[i] & 0x3f);
	}
	if ((n == 3 && value < 0x800) || (n == 4 && value < 0x10000))
		return 0;	/* overlong form */
	if ((value >= 0xd800 && value < 0xe000) || value > 0x10ffff)
		return 0;	/* a surrogate, or beyond the last */
	if (n > 0)
		*code = value;
	return n;
}

/* Decoding reads no byte after one that is no continuation, such as the NUL. */
unsigned utf8_length(const char *text)
{
	uint32_t code;

	return utf8_decode(text, UTF8_BYTES_MAX, &code);
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
