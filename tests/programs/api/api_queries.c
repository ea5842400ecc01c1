/*
 * api_queries.c: threads that request numbers all the time, and a handler that
 * does so as well, in a thread that has allocated before or not. No request is
 * delayed needlessly or refused: a handler runs before or after a request.
 */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/.. -pthread
#include "tgt.h"

#include <gnomon/gnomon.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define ASKERS 4
#define SIGNALS 300
#define LONGEST_NS 1000000000	/* a machine may be slow; a hang is 2 s */

static volatile int stop;
static _Atomic int wrong, asked, handled;

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static void fail(const char *what, int64_t value)
{
	wrong = 1;
	tgt_write(what);
	tgt_print(": wrong", (uint64_t)value);
}

static void ask(void)
{
	struct gnomon_summary summary;
	int64_t begin = now();
	int err = gnomon_summarize(GNOMON_ALL, &summary);

	if (err)
		fail("answer", -err);
	if (now() - begin > LONGEST_NS)
		fail("time", now() - begin);
	asked++;
}

static void on_signal(int number)
{
	(void)number;
	handled++;
	ask();
}

static void *asks(void *allocates)
{
	if (allocates)
		free(malloc(1));
	while (!stop)
		ask();
	return NULL;
}

/* Handlers of one thread that asks. */
static void interrupted(void *allocates)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread;
	int i;

	stop = 0;
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, asks, allocates);
	for (i = 0; i < SIGNALS && !wrong; i++) {
		pthread_kill(thread, SIGUSR1);
		usleep(1000);
	}
	stop = 1;
	pthread_join(thread, NULL);
	if (!handled)
		fail("handled", handled);
	handled = 0;
}

/* Each has its turn. */
static void at_once(void)
{
	pthread_t threads[ASKERS];
	int i;

	stop = 0;
	asked = 0;
	for (i = 0; i < ASKERS; i++)
		pthread_create(&threads[i], NULL, asks, NULL);
	sleep(1);
	stop = 1;
	for (i = 0; i < ASKERS; i++)
		pthread_join(threads[i], NULL);
	/* alone on two processors, a hundred times as many */
	if (asked < 400)
		fail("asked", asked);
}

int main(void)
{
	interrupted(NULL);
	interrupted(&wrong);
	at_once();
	return wrong;
}
