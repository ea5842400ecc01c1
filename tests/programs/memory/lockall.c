/*
 * lockall.c [KIB USER]: locks all memory, with a limit of KIB above the memory
 * mapped at the start, as another user; prints the result and how much is
 * locked then. Without arguments: as the current user, without a limit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* In KiB, from /proc/self/status. */
static long status(const char *key)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, key, strlen(key)) == 0)
			kib = atol(line + strlen(key));
	if (file)
		fclose(file);
	return kib;
}

int main(int argc, char **argv)
{
	char *block = malloc(1 << 20);
	int result, later;
	void *after;

	if (argc == 3) {
		struct rlimit limit;

		limit.rlim_cur = limit.rlim_max =
			(rlim_t)atol(argv[1]) << 10;
		if (setrlimit(RLIMIT_MEMLOCK, &limit) ||
		    setuid((uid_t)atoi(argv[2])))
			return 1;
	}
	memset(block, 1, 1 << 20);
	result = mlockall(MCL_CURRENT);
	printf("result %d\nlocked_kib %ld\nresident_kib %ld\n", -result,
	       status("VmLck:"), status("VmRSS:"));
	munlockall();
	/* what is mapped later alone */
	later = mlockall(MCL_FUTURE);
	after = mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("later %d\nlater_kib %ld\n", -later,
	       after == MAP_FAILED ? -1 : status("VmLck:"));
	printf("wrong %d\n", -mlockall(1 << 20));
	free(block);
	return 0;
}
