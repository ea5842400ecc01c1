/*
 * probe.c: the library's functions, each against what glibc's backtrace()
 * says of the same stack, in all the situations that its header speaks of.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "probe.h"

#define ROUNDS 200
#define FRAMES_MAX 48

static uint32_t mode;

static void init(void)
{
	struct gu_options options = { .mode = mode };

	CHECK(gu_init(&options) == 0);
}

/* A stack of n frames more, in which `seed` decides who calls whom. */
static NOINLINE void left(unsigned n, unsigned seed, void (*then)(void));

static NOINLINE void right(unsigned n, unsigned seed, void (*then)(void))
{
	if (!n)
		then();
	else if (seed & 1)
		left(n - 1, seed >> 1, then);
	else
		right(n - 1, seed >> 1, then);
	STAY();
}

static NOINLINE void left(unsigned n, unsigned seed, void (*then)(void))
{
	char room[seed % 61 + 1];

	__asm__ volatile("" : : "r"(room) : "memory");
	right(n, seed, then);
	STAY();
}

static uint32_t last_id;

static NOINLINE void compare(void)
{
	last_id = probe_here();
	STAY();
}

static void many(unsigned rounds)
{
	unsigned i;

	for (i = 0; i < rounds; i++)
		left(i * 7 % FRAMES_MAX, i % 16 * 2654435761u, compare);
}

static void case_stacks(void)
{
	uint32_t id, first;
	size_t n = 0;

	init();
	many(ROUNDS);
	for (n = 0; n < 4; n++) {
		left(20, 12345, compare);
		first = n ? first : last_id;
		CHECK(last_id == first);
	}
	left(20, 54321, compare);
	CHECK(last_id != first);
	for (n = 0, id = first; id >= GU_STOP_COUNT; id = gu_parent(id), n++)
		CHECK(gu_address(id) && gu_parent(id) < id);
	CHECK(id == GU_STOP_BOTTOM && n == gu_depth(first));
}

static void case_deep(void)
{
	struct gu_thread_stats own;
	uintptr_t some[10];
	uint32_t stop;

	init();
	right(20000, 0, compare);
	right(20000, 0, compare);
	CHECK(gu_expand(last_id, some, 10, &stop) == 10);
	CHECK(stop == GU_STOP_TOO_DEEP);
	CHECK(gu_walk(some, 1, &stop) == 1 && stop == GU_STOP_TOO_DEEP);
	CHECK(gu_walk(some, 0, NULL) == 0);
	CHECK(gu_thread_describe(&own) == 0);
	CHECK((own.barriers_placed > 0) == !strcmp(own.mode, "barriers"));
	if (mode != GU_MODE_AUTO)
		CHECK(!strcmp(own.mode, mode ? "off" : "validate"));
	else if (!own.barriers_placed)
		fprintf(stderr, "no barriers: %s\n", own.why);
}

/* The library at its borders: before its start, with wrong arguments, and
 * never an allocation or an errno that is not the program's. */
static void case_borders(void)
{
	struct gu_options options = { .mode = 17 };
	struct gu_thread_stats own;
	struct gu_stats stats;
	uintptr_t some[4];
	size_t heap;
	uint32_t stop;

	CHECK(gu_capture() == GU_STOP_EARLY);
	CHECK(gu_walk(some, 4, &stop) == 0 && stop == GU_STOP_EARLY);
	CHECK(gu_expand(100, some, 4, &stop) == 0 && stop == GU_STOP_OTHER);
	CHECK(gu_reload() == -EINVAL && gu_describe(&stats) == -EINVAL);
	gu_thread_end();
	CHECK(gu_init(&options) == -EINVAL);
	options = (struct gu_options){ .memory_bytes = 4096 };
	CHECK(gu_init(&options) == -EINVAL);
	options = (struct gu_options){ .contexts_max = 1u << 30 };
	CHECK(gu_init(&options) == -EINVAL);
	options = (struct gu_options){ .reserved = { 0, 1 } };
	CHECK(gu_init(&options) == -EINVAL);
	heap = mallinfo2().uordblks;
	errno = 77;
	init();
	CHECK(gu_init(NULL) == -EALREADY);
	CHECK(gu_capture() >= GU_STOP_COUNT);
	CHECK(gu_walk(some, 4, NULL) > 1 && gu_reload() == 0);
	CHECK(gu_describe(&stats) == 0 && gu_thread_describe(&own) == 0);
	CHECK(errno == 77);
	CHECK(mallinfo2().uordblks == heap);
	CHECK(gu_address(0) == 0 && gu_parent(0) == 0);
	CHECK(gu_address(UINT32_MAX) == 0 && gu_depth(UINT32_MAX) == 0);
	CHECK(gu_parent(UINT32_MAX) == GU_STOP_OTHER);
	CHECK(strcmp(gu_stop_text(GU_STOP_BOTTOM), "complete") == 0);
	CHECK(gu_stop_text(UINT32_MAX) != NULL);
	CHECK(stats.contexts >= 2 && stats.images >= 1 && stats.threads == 1);
	CHECK(stats.memory_used_bytes < stats.memory_bytes);
	CHECK(own.mode && own.why && own.memory_bytes);
}

static uintptr_t walked[PROBE_DEPTH];

static NOINLINE void walk_often(void)
{
	uint32_t stop;
	int i;

	for (i = 0; i < 1000; i++)
		if (gu_walk(walked, PROBE_DEPTH, &stop) < 10 ||
		    stop != GU_STOP_BOTTOM)
			syscall(SYS_exit, 2);
}

/* Walks of a stack that the thread has been on ask the kernel for nothing: it
 * would end the process. */
static NOINLINE void walk_strictly(void)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		walk_often();
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		walk_often();
		syscall(SYS_exit, 0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void case_strict(void)
{
	init();
	right(30, 12345, walk_strictly);
}

static void case_budget(void)
{
	struct gu_options options = { .contexts_max = 500,
				      .memory_bytes = 16 << 20 };
	struct gu_stats stats;
	unsigned i;

	CHECK(gu_init(&options) == 0);
	for (i = 0; i < 20; i++)
		right(i, i * 2654435761u, compare);
	for (i = 0; i < 300; i++)
		left(20, i * 2654435761u, (void (*)(void))gu_capture);
	CHECK(gu_capture() != 0);
	CHECK(gu_describe(&stats) == 0);
	CHECK(stats.contexts <= stats.contexts_max);
	CHECK(stats.contexts_max < 500);
}

/* One instruction that traps, the first of its function. */
void trap(void);
__asm__("	.type trap, @function\n"
	"trap:	.cfi_startproc\n"
	"	ud2\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size trap, .-trap\n");

static uintptr_t seen[PROBE_DEPTH], whole[PROBE_DEPTH];
static size_t seen_count, walked_count, whole_count;
static volatile sig_atomic_t signals, early;

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	uint32_t stop = 99, id;
	size_t i;

	(void)number;
	(void)info;
	signals++;
	id = gu_capture_ucontext(context);
	CHECK(gu_capture_ucontext(context) == id);
	seen_count = gu_expand(id, seen, PROBE_DEPTH, &stop);
	/* it came while the thread got its memory, which is seldom */
	if (number == SIGALRM && stop == GU_STOP_NO_MEMORY && ++early < 4)
		return;
	CHECK(stop == GU_STOP_BOTTOM);
	walked_count = gu_walk_ucontext(context, walked, PROBE_DEPTH, &stop);
	CHECK(stop == GU_STOP_BOTTOM);
	CHECK(seen[0] - 1 == (uintptr_t)u->uc_mcontext.gregs[REG_RIP]);
	CHECK(seen_count == walked_count);
	CHECK(!memcmp(seen, walked, seen_count * sizeof(*seen)));
	/* This handler's own stack leads into the same. */
	whole_count = gu_expand(gu_capture(), whole, PROBE_DEPTH, &stop);
	CHECK(stop == GU_STOP_BOTTOM && whole_count > seen_count);
	for (i = 0; i < seen_count; i++)
		CHECK(whole[whole_count - seen_count + i] == seen[i]);
	if (number == SIGILL)
		u->uc_mcontext.gregs[REG_RIP] += 2;
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *),
		   int flags)
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO | flags };

	CHECK(sigaction(number, &action, NULL) == 0);
}

static NOINLINE void into_trap(void)
{
	size_t n = probe_backtrace(whole, 0);
	uintptr_t stack[PROBE_DEPTH / 8];

	memcpy(stack, whole, n * sizeof(*stack));
	trap();
	CHECK(seen[0] - 1 == (uintptr_t)trap);
	probe_same(stack, n, seen + 1, seen_count - 1);
}

static void case_signal(void)
{
	static char other[1 << 16];
	stack_t alternate = { .ss_sp = other, .ss_size = sizeof(other) };

	init();
	handle(SIGILL, on_trap, 0);
	left(10, 99, into_trap);
	CHECK(sigaltstack(&alternate, NULL) == 0);
	handle(SIGILL, on_trap, SA_ONSTACK);
	left(12, 77, into_trap);
	right(200, 0, into_trap);
	CHECK(signals == 3);
}

static void case_getcontext(void)
{
	ucontext_t context;
	size_t n, m;

	init();
	n = probe_backtrace(whole, 0);
	CHECK(getcontext(&context) == 0);
	m = gu_walk_ucontext(&context, walked, PROBE_DEPTH, NULL);
	probe_same(whole, n, walked, m);
}

/* A timer's signals meet captures at every instruction. */
static void tick(int microseconds)
{
	struct itimerval timer = { { 0, microseconds }, { 0, microseconds } };

	CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static volatile sig_atomic_t told;

static void tell(void)
{
	told += gu_capture() >= GU_STOP_COUNT;
}

static void case_interrupted(void)
{
	struct gu_stats stats;

	init();
	handle(SIGALRM, on_trap, SA_RESTART);
	tick(300);
	while (signals < 300)
		left(told % FRAMES_MAX, told * 2654435761u, tell);
	tick(0);
	many(ROUNDS);
	CHECK(gu_describe(&stats) == 0 && stats.threads == 1);
}

static sigjmp_buf out;

static void on_jump(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	signals++;
	siglongjmp(out, 1);
}

static void case_jumped(void)
{
	struct gu_thread_stats own;

	init();
	handle(SIGALRM, on_jump, 0);
	tick(300);
	while (signals < 300) {
		if (sigsetjmp(out, 1) == 0)
			for (;;)
				left(told % FRAMES_MAX,
				     told % 16 * 2654435761u, tell);
	}
	tick(0);
	many(ROUNDS);
	/* and not by plain walks for ever */
	CHECK(gu_thread_describe(&own) == 0);
	CHECK(mode == GU_MODE_OFF || own.paths > 0);
}

static void *work(void *end)
{
	many(ROUNDS);
	if (end)
		gu_thread_end();
	return NULL;
}

static void run_threads(unsigned n, void *(*function)(void *), void *argument)
{
	pthread_t thread[16];
	unsigned i;

	for (i = 0; i < n; i++)
		CHECK(!pthread_create(&thread[i], NULL, function, argument));
	for (i = 0; i < n; i++)
		CHECK(!pthread_join(thread[i], NULL));
}

static void *one(void *end)
{
	struct gu_thread_stats own;

	CHECK(gu_capture() >= GU_STOP_COUNT);
	/* no stack is left of who had the state before */
	CHECK(gu_thread_describe(&own) == 0 && own.paths <= 1);
	if (end)
		gu_thread_end();
	return NULL;
}

static void case_threads(void)
{
	struct gu_stats stats;
	uint64_t used;
	unsigned i;

	init();
	run_threads(6, work, NULL);
	run_threads(6, work, &stats);
	CHECK(gu_describe(&stats) == 0);
	used = stats.memory_used_bytes;
	/* Threads that come and go, in silence or with a word. */
	for (i = 0; i < 100; i++)
		run_threads(2, one, i & 1 ? &stats : NULL);
	CHECK(gu_describe(&stats) == 0);
	CHECK(stats.threads + stats.threads_kept <= 16);
	CHECK(stats.memory_used_bytes < used + (1 << 20));
	many(20);
}

static void wait_for(pid_t child)
{
	int status = -1;

	CHECK(child > 0);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(status == 0);
}

static volatile int stop_work;

static void *work_on(void *unused)
{
	(void)unused;
	while (!stop_work)
		left(told % 9, told * 2654435761u, tell);
	return NULL;
}

/* What a child of any thread can do. */
static void child(uint32_t id, const uintptr_t *stack, size_t n)
{
	uintptr_t again[64];
	struct gu_stats stats;

	alarm(20);
	CHECK(gu_expand(id, again, 64, NULL) == n);
	CHECK(!memcmp(again, stack, n * sizeof(*again)));
	many(20);
	run_threads(2, work, NULL);
	CHECK(gu_reload() == 0 && gu_describe(&stats) == 0);
	CHECK(stats.threads + stats.threads_kept <= 3);
	CHECK(gu_expand(id, again, 64, NULL) == n);
	CHECK(!memcmp(again, stack, n * sizeof(*again)));
}

static NOINLINE void *fork_some(void *unused)
{
	uintptr_t stack[64];
	uint32_t id = gu_capture();
	size_t n = gu_expand(id, stack, 64, NULL);
	pid_t pid;
	int i;

	for (i = 0; i < 8; i++) {
		pid = fork();
		if (pid == 0) {
			child(id, stack, n);
			_exit(0);
		}
		wait_for(pid);
	}
	return unused;
}

/* In a child the first state is made anew, at the same place, and for another
 * thread than the parent's: the one that had it before must not take it. */
static void *capture_long(void *unused)
{
	while (!stop_work)
		many(1);
	return unused;
}

static void case_fork_and_thread(void)
{
	struct gu_stats stats;
	pthread_t thread;
	pid_t child;
	int status, i;

	init();
	many(5);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		CHECK(!pthread_create(&thread, NULL, capture_long, NULL));
		usleep(20000);
		for (i = 0; i < 50; i++)
			many(5);
		/* each has its own */
		CHECK(gu_describe(&stats) == 0 && stats.threads == 2);
		stop_work = 1;
		pthread_join(thread, NULL);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void case_fork(void)
{
	pthread_t thread[2];

	init();
	fork_some(NULL);
	CHECK(!pthread_create(&thread[0], NULL, work_on, NULL));
	CHECK(!pthread_create(&thread[1], NULL, fork_some, NULL));
	fork_some(NULL);
	pthread_join(thread[1], NULL);
	stop_work = 1;
	pthread_join(thread[0], NULL);
	many(20);
}

/* Two plugins, one after the other at the same place. */
static uint32_t through(const char *path, uintptr_t *place)
{
	void *plugin = dlopen(path, RTLD_NOW);
	void (*call)(void (*)(void));
	void *symbol;

	CHECK(plugin);
	CHECK(gu_reload() == 0);
	symbol = dlsym(plugin, "plugin_call");
	CHECK(symbol);
	memcpy(&call, &symbol, sizeof(call));
	*place = (uintptr_t)symbol;
	call(compare);
	call(compare);
	CHECK(dlclose(plugin) == 0);
	CHECK(gu_reload() == 0);
	return last_id;
}

static void case_plugins(const char *a, const char *b)
{
	uintptr_t place[2], stack[64], again[64];
	uint32_t first, second;
	size_t n;
	int i;

	init();
	many(20);
	first = through(a, &place[0]);
	n = gu_expand(first, stack, 64, NULL);
	for (i = 0; i < 5; i++) {
		second = through(b, &place[1]);
		/* the same addresses, other code: another context */
		CHECK(place[0] == place[1] && second != first);
		CHECK(through(a, &place[1]) != second);
	}
	CHECK(gu_expand(first, again, 64, NULL) == n);
	CHECK(!memcmp(stack, again, n * sizeof(*stack)));
	many(20);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{ "stacks", case_stacks },
		{ "deep", case_deep },
		{ "strict", case_strict },
		{ "borders", case_borders },
		{ "budget", case_budget },
		{ "signal", case_signal },
		{ "getcontext", case_getcontext },
		{ "interrupted", case_interrupted },
		{ "jumped", case_jumped },
		{ "threads", case_threads },
		{ "fork", case_fork },
		{ "fork-and-thread", case_fork_and_thread },
	};
	size_t i;

	CHECK(argc > 2);
	mode = (uint32_t)atoi(argv[2]);
	if (argc == 5 && strcmp(argv[1], "plugins") == 0) {
		case_plugins(argv[3], argv[4]);
		return 0;
	}
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (strcmp(cases[i].name, argv[1]) == 0) {
			cases[i].run();
			return 0;
		}
	CHECK(!"a case of this name");
}
