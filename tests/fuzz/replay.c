/*
 * replay.c: the main of a fuzz target without a fuzzer: feeds it files, each
 * once as it is, and once cut at each of some places.
 *
 * usage: fuzz_NAME FILE...
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define SIZE_LIMIT (1u << 20)
#define CUTS 16
#define SECONDS 30		/* of processor, for one input */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* SIGPROF after so many seconds of processor time, whatever else the machine
 * does; 0: never. */
static void limit_time(int seconds)
{
	const struct itimerval value = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &value, NULL);
}

/* In a block of its own, so that a sanitizer sees what is read beyond it. */
static void feed(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, bytes, size);
	limit_time(SECONDS);
	LLVMFuzzerTestOneInput(copy, size);
	limit_time(0);
	free(copy);
}

int main(int argc, char **argv)
{
	static uint8_t bytes[SIZE_LIMIT];

	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "r");
		size_t size;

		if (file == NULL) {
			perror(argv[i]);
			return 2;
		}
		size = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
		/* A crash ends it: the last name is the culprit's. */
		fprintf(stderr, "%s\n", argv[i]);
		feed(bytes, size);
		for (size_t cut = 0; cut < CUTS; cut++)
			feed(bytes, size * cut / CUTS);
	}
	return 0;
}
