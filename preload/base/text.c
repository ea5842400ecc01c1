/*
 * text.c: text built in a buffer. See the header.
 *
 * I1: length < size, and data[length] is NUL.
 */
#include "preload/base/text.h"

#include <errno.h>
#include <string.h>

#include "unwind/claim.h"

void text_init(struct text *text, char *buffer, size_t size)
{
	CLAIM_FULL(size > 0);
	text->data = buffer;
	text->size = size;
	text->length = 0;
	text->full = false;
	buffer[0] = '\0';
}

void text_char(struct text *text, char c)
{
	CLAIM_FULL(text->length < text->size); /* I1 */
	if (text->length + 1 >= text->size) {
		text->full = true;
		return;
	}
	text->data[text->length++] = c;
	text->data[text->length] = '\0';
}

void text_bytes(struct text *text, const char *s, size_t n)
{
	for (; n; n--)
		text_char(text, *s++);
}

void text_put(struct text *text, const char *s)
{
	text_bytes(text, s, strlen(s));
}

void text_number(struct text *text, uint64_t value)
{
	char digits[20];
	unsigned n = 0;

	do {
		digits[n++] = '0' + value % 10;
		value /= 10;
	} while (value);
	while (n)
		text_char(text, digits[--n]);
}

void text_hex(struct text *text, uint64_t value, unsigned digits)
{
	CLAIM_FULL(digits <= 16);
	while (digits--)
		text_char(text, "0123456789abcdef"[value >> (4 * digits) & 15]);
}

/* The errors that a user meets here, in words. */
static const struct {
	int number;
	const char *name;
} text_errors[] = {
	{ EACCES, "permission denied" },
	{ EAGAIN, "resource temporarily unavailable" },
	{ EDQUOT, "disk quota exceeded" },
	{ EEXIST, "file exists" },
	{ EFBIG, "file too large" },
	{ EIO, "input/output error" },
	{ EISDIR, "is a directory" },
	{ ELOOP, "is a symbolic link" },
	{ EMFILE, "too many open files" },
	{ ENFILE, "too many open files in the system" },
	{ ENOENT, "no such file or directory" },
	{ ENOSYS, "the kernel does not have it" },
	{ ENOMEM, "out of memory" },
	{ ENOSPC, "no space left on device" },
	{ ENOTDIR, "not a directory" },
	{ EPERM, "operation not permitted" },
	{ EPIPE, "the reader has closed the pipe" },
	{ EROFS, "read-only file system" },
};

void text_error(struct text *text, int err)
{
	unsigned i;

	if (err < 0)
		err = -err;
	for (i = 0; i < sizeof(text_errors) / sizeof(*text_errors); i++) {
		if (text_errors[i].number != err)
			continue;
		text_put(text, text_errors[i].name);
		return;
	}
	text_put(text, "error ");
	text_number(text, err);
}

void text_message(char *buffer, size_t size, const char *what,
		  const char *path, int err)
{
	struct text text;

	text_init(&text, buffer, size);
	text_put(&text, what);
	if (path) {
		text_put(&text, ": ");
		text_put(&text, path);
	}
	text_put(&text, ": ");
	text_error(&text, err);
}
