/*
 * toggled.c: switches the recording on and off by signals that it sends to
 * itself, and allocates a few blocks after each: tgt_on() makes the blocks that
 * must be recorded, tgt_off() the others.
 *	toggled off|on HOW ROUNDS THREADS
 * off, on: the initial state of the recording. HOW, the start of a round:
 *	raise, kill, pthread_kill, sigqueue	one signal to the caller
 *	other		one that another thread raises
 *	triple		three in a row: as one
 *	pending		three that arrive at once, of two numbers, as one
 *	call		the program's own call (gnomon_enable)
 *	mixed		any of them
 *	clear		one signal, USR1, that clears what was before
 * THREADS other threads allocate as well, after each signal. USR1 and USR2
 * toggle. It ends while recording, and prints how many blocks were recorded, in
 * all and since it was last switched on, or cleared.
 *
 * The other threads block all signals except the one that they raise: else one
 * of them might take what kill() sent to the process, after kill() has
 * returned.
 */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/.. -pthread
#include <gnomon/gnomon.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 8
#define KEPT 16

static pthread_t others[THREADS + 1];
static unsigned count;
static _Atomic unsigned turn;		/* numbers what all are to do */
static _Atomic unsigned done;		/* how many have done it */
static _Atomic bool ends;
static bool on, other_raises;
/* what was made while it was recorded: in all, and since the last START */
static _Atomic unsigned long made, made_bytes, last, last_bytes;

static void *tgt_on(size_t size)
{
	atomic_fetch_add(&made, 1);
	atomic_fetch_add(&made_bytes, size);
	atomic_fetch_add(&last, 1);
	atomic_fetch_add(&last_bytes, size);
	return malloc(size);
}

static void *tgt_off(size_t size)
{
	return malloc(size);
}

static unsigned random_next(unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

/* Some blocks; old ones end, perhaps after a signal or two. */
static void work(void **kept, unsigned *state)
{
	unsigned n = 1 + random_next(state) % 5;

	while (n--) {
		unsigned i = random_next(state) % KEPT;
		size_t size = 16 + random_next(state) % 200;

		free(kept[i]);
		kept[i] = on ? tgt_on(size) : tgt_off(size);
	}
}

static void let_in(bool signals)
{
	sigset_t both;

	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	pthread_sigmask(signals ? SIG_UNBLOCK : SIG_BLOCK, &both, NULL);
}

/* The last one is who raises for others. */
static void *other(void *arg)
{
	unsigned number = (unsigned)(size_t)arg, seen = 0;
	unsigned state = number * 7919 + 1;
	void *kept[KEPT] = { NULL };

	for (;;) {
		while (atomic_load(&turn) == seen && !atomic_load(&ends))
			sched_yield();
		if (atomic_load(&ends))
			return NULL;
		seen++;
		if (number == count && other_raises) {
			let_in(true);
			raise(SIGUSR1);
			let_in(false);
		} else if (number < count && !other_raises) {
			work(kept, &state);
		}
		atomic_fetch_add(&done, 1);
	}
}

static void all(bool raises)
{
	other_raises = raises;
	atomic_store(&done, 0);
	atomic_fetch_add(&turn, 1);
}

static void all_done(void)
{
	while (atomic_load(&done) != count + 1)
		sched_yield();
}

static void pending(void)
{
	let_in(false);
	raise(SIGUSR1);
	raise(SIGUSR2);
	let_in(true);
	raise(SIGUSR1);
}

static void toggle(const char *how, unsigned *state)
{
	static const char *const ways[] = { "raise", "kill", "pthread_kill",
					    "sigqueue", "other", "triple",
					    "pending", "call" };
	union sigval value = { .sival_int = 0 };

	if (!strcmp(how, "mixed"))
		how = ways[random_next(state) % 8];
	if (!strcmp(how, "raise") || !strcmp(how, "clear")) {
		raise(SIGUSR1);
	} else if (!strcmp(how, "kill")) {
		kill(getpid(), SIGUSR1);
	} else if (!strcmp(how, "pthread_kill")) {
		pthread_kill(pthread_self(), SIGUSR1);
	} else if (!strcmp(how, "sigqueue")) {
		sigqueue(getpid(), SIGUSR1, value);
	} else if (!strcmp(how, "other")) {
		all(true);
		all_done();
	} else if (!strcmp(how, "triple")) {
		raise(SIGUSR1);
		raise(SIGUSR1);
		raise(SIGUSR2);
	} else if (!strcmp(how, "call")) {
		if (on ? gnomon_disable() : gnomon_enable())
			exit(1);
	} else {
		pending();
	}
	on = !on || !strcmp(how, "clear");
	if (on)
		last = last_bytes = 0;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 4 ? atoi(argv[3]) : 0, state = 1, i;
	void *kept[KEPT] = { NULL };
	static char buffer[BUFSIZ];

	if (!rounds)
		return 2;
	count = atoi(argv[4]);
	if (count > THREADS)
		return 2;
	on = !strcmp(argv[1], "on");
	/* printing is to allocate nothing */
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	let_in(false);	/* they inherit it */
	for (i = 0; i <= count; i++)
		if (pthread_create(&others[i], NULL, other,
				   (void *)(size_t)i))
			return 1;
	let_in(true);
	for (i = 0; i < rounds || !on; i++) {
		toggle(argv[2], &state);
		all(false);
		work(kept, &state);
		all_done();
	}
	atomic_store(&ends, true);
	for (i = 0; i <= count; i++)
		pthread_join(others[i], NULL);
	printf("made %lu\nmade_bytes %lu\nlast %lu\nlast_bytes %lu\n", made,
	       made_bytes, last, last_bytes);
	return 0;
}
