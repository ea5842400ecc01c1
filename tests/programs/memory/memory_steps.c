/*
 * memory_steps.c WHAT: uses memory of a known size, and prints the kernel's
 * view.
 *
 *   steps MS    touches 8 MiB more, and pauses for MS; before each pause a
 *               line "step NS RSS" (CLOCK_MONOTONIC, KiB of smaps_rollup)
 *   kinds MS    clean and dirty pages, private and shared; then the keys of
 *               its own smaps_rollup, and a pause
 *   mappings N  N mappings that the kernel cannot join, some of them touched,
 *               and a pause
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include "tgt.h"

#define PAGE 4096
#define STEP (8u << 20)
#define STEPS 5

static char rollup[4096];

static void read_rollup(void)
{
	int fd = open("/proc/self/smaps_rollup", O_RDONLY);
	ssize_t n = read(fd, rollup, sizeof(rollup) - 1);

	rollup[n > 0 ? n : 0] = 0;
	close(fd);
}

static unsigned long figure(const char *key)
{
	const char *at = strstr(rollup, key);

	return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void rest_ms(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static char *map(size_t size, int prot, int flags, int fd)
{
	char *at = mmap(NULL, size, prot, flags, fd, 0);

	if (at == MAP_FAILED)
		_exit(77);
	return at;
}

static void touch(volatile char *at, size_t size)
{
	for (size_t i = 0; i < size; i += PAGE)
		at[i] = 1;
}

static void look(volatile char *at, size_t size)
{
	for (size_t i = 0; i < size; i += PAGE)
		(void)at[i];
}

static void steps(long pause_ms)
{
	char *at = map(STEPS * STEP, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1);

	madvise(at, STEPS * STEP, MADV_NOHUGEPAGE);
	for (int i = 0; i < STEPS; i++) {
		touch(at + i * STEP, STEP);
		read_rollup();
		printf("step %llu %lu\n", now_ns(), figure("\nRss:"));
		fflush(stdout);
		rest_ms(pause_ms);
	}
}

static void kinds(long pause_ms)
{
	static const char *const keys[] = {
		"Rss", "Pss", "Shared_Clean", "Shared_Dirty", "Private_Clean",
		"Private_Dirty", "Anonymous", "Swap"
	};
	int fd = open("/proc/self/exe", O_RDONLY);
	off_t size = lseek(fd, 0, SEEK_END);

	touch(map(3 << 20, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1), 3 << 20);
	touch(map(5 << 20, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1), 5 << 20);
	look(map(size, PROT_READ, MAP_PRIVATE, fd), size);
	rest_ms(pause_ms);
	read_rollup();
	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		char key[32];

		snprintf(key, sizeof(key), "\n%s:", keys[i]);
		printf("%s %lu\n", keys[i], figure(key));
	}
	printf("when %llu\n", now_ns());
	rest_ms(pause_ms);
}

static void mappings(unsigned long count)
{
	char *at = map(2 * count * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1);

	for (unsigned long i = 0; i < count; i++)
		mprotect(at + 2 * i * PAGE, PAGE, PROT_READ);
	for (unsigned long i = 0; i < count; i += 10)
		touch(at + (2 * i + 1) * PAGE, PAGE);
	printf("at %lx\n", (unsigned long)at);
	fflush(stdout);
	rest_ms(1000);
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "steps"))
		steps(strtol(argv[2], NULL, 10));
	else if (argc > 2 && !strcmp(argv[1], "kinds"))
		kinds(strtol(argv[2], NULL, 10));
	else if (argc > 2 && !strcmp(argv[1], "mappings"))
		mappings(strtoul(argv[2], NULL, 10));
	else
		return 2;
	return 0;
}
