/*
 * replay_input.h: reads a stream of operations, byte by byte and number by
 * number, in constant memory and without the allocator. An error in the stream
 * ends the process with a message. One thread at a time.
 */
#ifndef BENCH_REPLAY_INPUT_H
#define BENCH_REPLAY_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#define EXIT_BAD 1	/* the stream is not as it should be */
#define EXIT_USE 2	/* wrong use, or nothing could be read */

void input_open(const char *path);	/* "-": standard input */
void input_head(void);			/* of replay_stream.h */
uint8_t input_byte(void);
uint64_t input_number(void);
bool input_at_end(void);
/* Say what is wrong, where in the stream, and end with EXIT_BAD. */
void input_fail(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#endif
