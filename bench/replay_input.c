/*
 * replay_input.c: see replay_input.h.
 */
#include "bench/replay_input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/export/replay_stream.h"

#define INPUT_BYTES 65536

static struct {
	const char *path;
	int file;
	uint64_t offset;	/* of the first byte of `bytes` */
	size_t at, size;
	uint8_t bytes[INPUT_BYTES];
} input;

void input_fail(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "replay: %s: at byte %" PRIu64 ": ", input.path,
		input.offset + input.at);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(EXIT_BAD);	/* threads wait for the baton */
}

static bool fill(void)
{
	ssize_t n;

	input.offset += input.size;
	input.at = input.size = 0;
	do
		n = read(input.file, input.bytes, sizeof(input.bytes));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		input_fail("cannot be read: %s", strerror(errno));
	input.size = (size_t)n;
	return n > 0;
}

uint8_t input_byte(void)
{
	if (input.at == input.size && !fill())
		input_fail("the stream ends here, but has not come to its end: it "
		     "was cut off");
	return input.bytes[input.at++];
}

uint64_t input_number(void)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < REPLAY_VARINT_MAX; i++) {
		uint8_t byte = input_byte();

		if (i == REPLAY_VARINT_MAX - 1 && byte > 1)
			break;
		number |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (byte < 0x80)
			return number;
	}
	input_fail("a number has more than 64 bits: the stream is damaged");
}

void input_head(void)
{
	uint8_t magic[REPLAY_MAGIC_SIZE], version;

	for (size_t i = 0; i < sizeof(magic); i++) {
		magic[i] = input_byte();
		if (i == 3 && memcmp(magic, "\x28\xb5\x2f\xfd", 4) == 0)
			input_fail("is compressed: `zstd -dc FILE | replay -`");
		if (i == 1 && memcmp(magic, "\x1f\x8b", 2) == 0)
			input_fail("is compressed: `gzip -dc FILE | replay -`");
	}
	if (memcmp(magic, REPLAY_MAGIC, sizeof(magic)) != 0)
		input_fail("is no replay stream: `gnomon export --format replay` "
		     "writes one");
	version = input_byte();
	if (version != REPLAY_VERSION)
		input_fail("has version %u, this program knows %u: export it again",
		     version, REPLAY_VERSION);
}

bool input_at_end(void)
{
	return input.at == input.size && !fill();
}

void input_open(const char *path)
{
	input.path = path;
	input.file = strcmp(path, "-") == 0 ? STDIN_FILENO :
		open(path, O_RDONLY | O_CLOEXEC);
	if (input.file >= 0)
		return;
	fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
	exit(EXIT_USE);
}
