/*
 * last_steps.c WAY: makes 32 MiB resident and ends at once in the named way;
 * killed: after a while. refused: an exec fails first, and half of the memory
 * is freed after it. given_up: an exec fails, and the process is killed later.
 * searched: exec fails in many directories, then works.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tgt.h"

#define SIZE (32u << 20)

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "return";
	char *none[] = { "true", NULL };
	char *at;

	tgt_free(tgt_malloc(1), 1);
	at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return 77;
	memset(at, 1, SIZE);
	if (!strcmp(way, "exit"))
		exit(0);
	if (!strcmp(way, "_exit"))
		_exit(0);
	if (!strcmp(way, "quick_exit"))
		quick_exit(0);
	if (!strcmp(way, "exit_group"))
		syscall(SYS_exit_group, 0);
	if (!strcmp(way, "exec"))
		execv("/bin/true", none);
	if (!strcmp(way, "refused")) {
		execv("/nowhere/at/all", none);
		munmap(at, SIZE / 2);
	}
	if (!strcmp(way, "searched")) {
		for (int i = 0; i < 20; i++)
			execv("/nowhere/at/all", none);
		execv("/bin/true", none);
	}
	if (!strcmp(way, "given_up"))
		execv("/nowhere/at/all", none);
	if (!strcmp(way, "killed") || !strcmp(way, "given_up")) {
		usleep(400000);
		kill(getpid(), SIGKILL);
	}
	return 0;
}
