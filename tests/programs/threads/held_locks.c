// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/.. -pthread -rdynamic -D_GNU_SOURCE
/*
 * held_locks.c LOCK LIBRARY: a thread holds another component's lock while the
 * other threads do everything that involves a recorder. None of that needs the
 * lock, and none may wait.
 *
 *	none		nobody holds anything
 *	iterate		in a callback of dl_iterate_phdr: the loader's
 *	constructor	in a constructor of LIBRARY: the loader's, another
 *	streams		flockfile: stdin, stdout, stderr
 *	list		fflush (NULL): stdio's, of the list of streams
 *	arena		in the middle of malloc: that of an arena
 *
 * Calls that would need this lock anyway are left out. A step that takes LIMIT
 * seconds is named, and the program exits with status 9. The first thread
 * performs the steps, then a new one (with its first stack) that also calls
 * newly loaded code, then a forked child.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <gnomon/gnomon.h>

#include "stacks/jit_code.h"
#include "tgt.h"

#define LIMIT 30
#define PAGE 4096
#define STACK (256 << 10)
#define ARENA_BLOCK 40000	/* leaves some of what an arena begins with */

enum {			/* what a step itself may wait for */
	NEEDS_LOADER = 1,
	NEEDS_STREAMS = 2,
	NEEDS_LIST = 4,
	NEEDS_ARENAS = 8
};

extern void __register_frame(void *), __deregister_frame(void *);

static const char *volatile step_name = "start";
static sem_t held, release;
static volatile int sits;	/* the constructor is to wait */
static const char *library_path;
static void (*late_allocate)(void (*)(void));

/* ---- who holds it ---- */

static void sit(void)
{
	sem_post(&held);
	while (sem_wait(&release))
		;
}

void held_here(void);
void held_here(void)
{
	if (sits)
		sit();
}

static int in_callback(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	(void)data;
	free(malloc(10));
	sit();
	return 1;
}

static void *hold_iterate(void *unused)
{
	dl_iterate_phdr(in_callback, NULL);
	return unused;
}

static void *hold_constructor(void *unused)
{
	sits = 1;
	if (!dlmopen(LM_ID_BASE, library_path, RTLD_NOW))
		abort();
	return unused;
}

static void *hold_streams(void *unused)
{
	flockfile(stdin);
	flockfile(stdout);
	flockfile(stderr);
	sit();
	funlockfile(stderr);
	funlockfile(stdout);
	funlockfile(stdin);
	return unused;
}

/* One sits on a stream; fflush has the list and waits for that. */
static void *flush_all(void *unused)
{
	fflush(NULL);
	return unused;
}

static void *hold_list(void *unused)
{
	pthread_t flusher;

	flockfile(stdout);
	if (pthread_create(&flusher, NULL, flush_all, NULL))
		abort();
	/* it has the list's lock, or will have it */
	sit();
	funlockfile(stdout);
	pthread_join(flusher, NULL);
	return unused;
}

static char *closed_page;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (!closed_page || (char *)info->si_addr < closed_page ||
	    (char *)info->si_addr >= closed_page + PAGE) {
		signal(number, SIG_DFL);
		return;
	}
	sit();
	mprotect(closed_page, PAGE, PROT_READ | PROT_WRITE);
}

/* malloc is to write what is left of the arena behind the block. */
static void *hold_arena(void *unused)
{
	struct sigaction action = { .sa_sigaction = on_fault,
				    .sa_flags = SA_SIGINFO };
	char *first = malloc(2000);
	uintptr_t rest = (uintptr_t)first + malloc_usable_size(first) +
			 ARENA_BLOCK;

	/* another arena than the main one */
	if (!(((size_t *)first)[-1] & 4))
		abort();
	closed_page = (char *)(rest & -(uintptr_t)PAGE);
	sigaction(SIGSEGV, &action, NULL);
	if (mprotect(closed_page, PAGE, PROT_NONE))
		abort();
	free(malloc(ARENA_BLOCK));
	return unused;
}

static const struct lock {
	const char *name;
	void *(*hold)(void *);
	unsigned taken;
} locks[] = {
	{ "none", NULL, 0 },
	{ "iterate", hold_iterate, NEEDS_LOADER },
	{ "constructor", hold_constructor, NEEDS_LOADER },
	{ "streams", hold_streams, NEEDS_STREAMS },
	{ "list", hold_list, NEEDS_LIST | NEEDS_STREAMS },
	{ "arena", hold_arena, NEEDS_ARENAS },
};
#define LOCKS (sizeof(locks) / sizeof(locks[0]))

static const struct lock *lock;

/* ---- the steps ---- */

static void blocks(void)
{
	void *p;

	tgt_free(tgt_malloc(40), 40);
	tgt_free(tgt_calloc(4, 25), 100);
	tgt_free(tgt_realloc(tgt_malloc(30), 30, 3000), 3000);
	p = reallocarray(NULL, 4, 10);
	if (malloc_usable_size(p) < 40)
		abort();
	free(p);
	if (posix_memalign(&p, 64, 100))
		abort();
	free(p);
	free(memalign(64, 100));
	free(aligned_alloc(64, 128));
	free(valloc(100));
	free(pvalloc(100));
	free(malloc(1 << 20));		/* a mapping of its own */
}

static __attribute__((noinline)) int deep_blocks(int depth)
{
	volatile char room[1 + depth % 7 * 32];

	room[0] = 1;
	if (depth)
		return deep_blocks(depth - 1) + room[0];
	for (int i = 0; i < 20; i++)
		tgt_free(tgt_malloc(50), 50);
	return 0;
}

static void deep(void)
{
	for (int i = 1; i < 150; i += 7)
		if (deep_blocks(i) != i)
			abort();
}

static void mappings(void)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int id;

	mprotect(p, PAGE, PROT_READ);
	p = mremap(p, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE);
	munmap(p, 3 * PAGE);
	if (sbrk(0) == (void *)-1)
		abort();
	id = shmget(IPC_PRIVATE, PAGE, 0600);
	if (id >= 0) {
		shmdt(shmat(id, NULL, 0));
		shmctl(id, IPC_RMID, NULL);
	}
}

static void names(void)
{
	prctl(PR_SET_NAME, "held");
	pthread_setname_np(pthread_self(), "held too");
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

static void trimming(void)
{
	malloc_trim(0);
}

static void rights(void)
{
	if (setgid(getgid()) || setuid(getuid()))
		abort();
	unshare(-1);
	mlockall(-1);
}

static void code_at_run_time(void)
{
	static uint8_t table[TABLE_MAX];
	uint8_t *code = mmap(NULL, CODE_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	union {
		uint8_t *code;
		jit_call *call;
	} made = { code };
	size_t size = jit_make_code(code, 32);

	/* nobody knows it; then somebody does */
	tgt_free(made.call(tgt_malloc, 60), 60);
	jit_make_table(table, code, 32, size);
	__register_frame(table);
	tgt_free(made.call(tgt_malloc, 60), 60);
	__deregister_frame(table);
	munmap(code, CODE_PAGE);
}

static void on_signal(int number)
{
	(void)number;
	tgt_free(tgt_malloc(70), 70);
}

static void handlers(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigjmp_buf there;

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	if (!sigsetjmp(there, 1))
		siglongjmp(there, 1);
	on_signal(0);
}

static ucontext_t outside, inside;

static void on_fiber(void)
{
	tgt_free(tgt_malloc(80), 80);
}

static void fibers(void)
{
	static char stack[STACK];

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, on_fiber, 0);
	swapcontext(&outside, &inside);
}

static void *thread_blocks(void *argument)
{
	blocks();
	return argument;
}

static void threads(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, thread_blocks, NULL) ||
		    pthread_join(thread, NULL))
			abort();
}

static void late_code(void)
{
	if (late_allocate)
		late_allocate(blocks);
}

static void api(void)
{
	char id;

	gnomon_marker("held");
	gnomon_deactivate(GNOMON_THREAD);
	free(malloc(10));
	gnomon_activate(GNOMON_THREAD);
	gnomon_sync();
	gnomon_alloc(gnomon_heap_create("held"), &id, 10);
	gnomon_pool_create(&id, "pool");
	gnomon_pool_alloc(&id, &id, 1);
	gnomon_pool_destroy(&id);
}

static void snapshots(void)
{
	gnomon_snapshot("held");
	blocks();
	gnomon_sync();
}

static void spawning(void)
{
	static char *const argv[] = { "true", NULL };
	pid_t child;
	int status;

	if (posix_spawn(&child, "/bin/true", NULL, NULL, argv, environ) ||
	    waitpid(child, &status, 0) != child || status)
		abort();
	child = vfork();
	if (!child) {
		execve("/bin/true", argv, environ);
		_exit(1);
	}
	if (waitpid(child, &status, 0) != child || status ||
	    system("true"))
		abort();
}

static void pipes(void)
{
	FILE *pipe = popen("true", "r");

	if (!pipe || pclose(pipe))
		abort();
}

static void forking(void);

static const struct step {
	const char *name;
	void (*run)(void);
	unsigned needs;
} steps[] = {
	{ "blocks", blocks, 0 },
	{ "deep", deep, 0 },
	{ "mappings", mappings, 0 },
	{ "names", names, 0 },
	{ "trimming", trimming, NEEDS_ARENAS },
	{ "rights", rights, 0 },
	{ "handlers", handlers, 0 },
	{ "fibers", fibers, 0 },
	{ "code at run time", code_at_run_time, 0 },
	{ "late code", late_code, 0 },
	{ "threads", threads, 0 },
	{ "api", api, 0 },
	{ "snapshots", snapshots, 0 },
	{ "spawning", spawning, 0 },
	{ "pipes", pipes, NEEDS_LIST },
	{ "forking", forking, NEEDS_LIST | NEEDS_ARENAS },
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

static void all_steps(void)
{
	for (size_t i = 0; i < STEPS; i++) {
		if (steps[i].needs & lock->taken)
			continue;
		step_name = steps[i].name;
		alarm(LIMIT);
		steps[i].run();
	}
}

/* A child in which nobody ever gives the lock back. */
static void forking(void)
{
	static int is_child;
	pid_t child;
	int status;

	if (is_child)
		return;
	child = fork();
	if (!child) {
		is_child = 1;
		memset(&tgt_counts, 0, sizeof(tgt_counts));
		all_steps();
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child)
		abort();
	if (status)
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 8);
}

static void too_long(int number)
{
	(void)number;
	tgt_write("waits: ");
	tgt_write(step_name);
	tgt_write("\n");
	_exit(9);
}

static void *all_in_thread(void *argument)
{
	if (lock->hold != hold_constructor)
		late_allocate = (void (*)(void (*)(void)))argument;
	all_steps();
	return NULL;
}

static void while_held(void *late)
{
	pthread_t holder, thread;

	if (lock->hold) {
		if (pthread_create(&holder, NULL, lock->hold, NULL))
			abort();
		while (sem_wait(&held))
			;
	}
	/* the first stack of a thread, with code that nobody has met */
	if (pthread_create(&thread, NULL, all_in_thread, late) ||
	    pthread_join(thread, NULL))
		abort();
	all_steps();
	if (lock->hold) {
		sem_post(&release);
		pthread_join(holder, NULL);
	}
}

int main(int argc, char **argv)
{
	void *library = NULL, *late = NULL;

	if (argc < 3)
		return 2;
	for (size_t i = 0; i < LOCKS; i++)
		if (strcmp(argv[1], locks[i].name) == 0)
			lock = &locks[i];
	if (!lock)
		return 2;
	library_path = argv[2];
	sem_init(&held, 0, 0);
	sem_init(&release, 0, 0);
	signal(SIGALRM, too_long);
	tgt_free(tgt_malloc(20), 20);
	if (lock->hold != hold_constructor) {
		library = dlopen(library_path, RTLD_NOW);
		late = library ? dlsym(library, "held_allocate") : NULL;
		if (!late)
			return 1;
	}
	while_held(late);
	alarm(0);
	if (library)
		dlclose(library);
	tgt_report();
	return 0;
}
