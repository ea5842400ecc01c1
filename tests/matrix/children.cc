// FLAGS: -pthread
/*
 * children.cc HOW: children of every kind, begun from deep inside and from
 * under frames that were captured from. HOW:
 *   vfork     a child in its parent's memory and stack, which allocates,
 *             goes deep and ends by _exit, or executes a program
 *   clone     the same on a stack of its own, by CLONE_VM | CLONE_VFORK
 *   shared    the same without CLONE_VFORK
 *   spawn     posix_spawn
 *   fork      from 120 frames; the child throws across them, and in another
 *             round returns outward through all of them and ends as main does
 *   threads   fork while three threads allocate
 * A parent waits for each child, so that the output has one order.
 */
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>

#include "deep.h"

static uint64_t wrong;

static void wait_for_child(pid_t pid, int wanted)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		;
	wrong += !WIFEXITED(status) || WEXITSTATUS(status) != wanted;
}

static long vfork_exit(void *)
{
	pid_t pid = vfork();

	if (pid == 0) {
		deep(40, deep_nothing, nullptr);
		deep_wide(25, deep_nothing, nullptr);
		_exit(5);
	}
	tgt_free(tgt_malloc(30), 30);
	wait_for_child(pid, 5);
	return deep(10, deep_nothing, nullptr);
}

static long vfork_exec(void *)
{
	pid_t pid = vfork();

	if (pid == 0) {
		deep(15, deep_nothing, nullptr);
		execl("/bin/true", "true", nullptr);
		_exit(6);
	}
	wait_for_child(pid, 0);
	return 10 + deep_nothing(nullptr);
}

static int clone_body(void *argument)
{
	deep(30, deep_nothing, argument);
	deep_wide(31, deep_nothing, argument);
	return 7;
}

static long clone_child(void *flags)
{
	static char stack[64 << 10] __attribute__((aligned(16)));
	pid_t pid = clone(clone_body, stack + sizeof(stack),
			  CLONE_VM | (flags ? 0 : CLONE_VFORK) | SIGCHLD,
			  nullptr);

	wait_for_child(pid, 7);
	return deep(10, deep_nothing, nullptr);
}

static long spawn_child(void *)
{
	char name[] = "true";
	char *arguments[] = { name, nullptr };
	pid_t pid = 0;

	if (posix_spawn(&pid, "/bin/true", nullptr, nullptr, arguments,
			environ))
		wrong++;
	wait_for_child(pid, 0);
	return deep(10, deep_nothing, nullptr);
}

static uint64_t guards_made, guards_gone;
struct guard {
	void *block = tgt_malloc(37);
	guard() { guards_made++; }
	~guard()
	{
		guards_gone++;
		tgt_free(block, 37);
	}
};

enum how_fork { THROWS, RETURNS, EXITS };
static bool in_child;

static long fork_at_bottom(enum how_fork how)
{
	pid_t pid = fork();

	if (pid > 0) {
		wait_for_child(pid, 9);
		return 0;
	}
	in_child = true;
	deep(50, deep_nothing, nullptr);
	if (how == THROWS)
		throw std::runtime_error("from the child");
	if (how == EXITS)
		exit(9);
	return 0;
}

static long fork_deep(int depth, enum how_fork how)
{
	guard object;
	long answer;

	if (depth == 0)
		answer = fork_at_bottom(how);
	else
		answer = fork_deep(depth - 1, how) + 1;
	tgt_free(tgt_malloc(29), 29);
	return answer;
}

static void fork_from(int depth, enum how_fork how)
{
	long answer = 0;

	try {
		answer = fork_deep(depth, how);
	} catch (const std::runtime_error &error) {
		answer = depth;
		wrong += !in_child;
	}
	wrong += answer != depth;
	if (in_child) {
		wrong += guards_made != guards_gone;
		exit(wrong ? 8 : 9);
	}
}

static void *background(void *)
{
	for (int i = 0; i < 300; i++)
		deep(i % 40, deep_nothing, nullptr);
	return nullptr;
}

static void forks(bool threads)
{
	pthread_t id[3];

	for (int depth = 0; depth <= 120; depth += 30) {
		for (int i = 0; threads && i < 3; i++)
			pthread_create(&id[i], nullptr, background, nullptr);
		fork_from(depth, THROWS);
		fork_from(depth, RETURNS);
		fork_from(depth, EXITS);
		for (int i = 0; threads && i < 3; i++)
			pthread_join(id[i], nullptr);
	}
}

static void at_depths(deep_bottom bottom, void *argument = nullptr)
{
	for (int depth = 0; depth < 100; depth += 9) {
		wrong += deep(depth, bottom, argument) != depth + 10;
		wrong += deep_wide(depth, bottom, argument) != depth + 10;
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "fork";

	if (!strcmp(how, "vfork")) {
		at_depths(vfork_exit);
	} else if (!strcmp(how, "exec")) {
		at_depths(vfork_exec);
	} else if (!strcmp(how, "clone")) {
		at_depths(clone_child);
	} else if (!strcmp(how, "shared")) {
		at_depths(clone_child, argv);
	} else if (!strcmp(how, "spawn")) {
		at_depths(spawn_child);
	} else {
		forks(!strcmp(how, "threads"));
	}
	tgt_print("wrong", wrong);
	tgt_print("guards_alive", guards_made - guards_gone);
	tgt_report();
	return wrong != 0;
}
