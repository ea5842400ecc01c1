/*
 * numbers.c: counts its operations and requests the same numbers from the
 * recorder: sums, histograms, stacks; of all threads and of one. "numbers
 * alone": of a child that is not recorded. It links nothing that allocates; it
 * first subtracts the C library's own allocations.
 */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/.. -pthread
#include "tgt.h"

#include <errno.h>
#include <fcntl.h>
#include <gnomon/gnomon.h>
#include <pthread.h>
#include <sys/wait.h>

#define BLOCKS 2000
#define THREADS 3
#define OTHERS (36 * sizeof(void *))	/* the C library's block of a thread */

static struct gnomon_sizes counted, before;
static void *kept[BLOCKS];
static int wrong;

static void expect(const char *what, uint64_t got, uint64_t wanted)
{
	if (got == wanted)
		return;
	wrong = 1;
	tgt_write(what);
	tgt_write(": wrong\n");
	tgt_print("got", got);
	tgt_print("wanted", wanted);
}

static size_t size_of(int i)
{
	return (size_t)i * 37 % 5000;
}

static void count(size_t size)
{
	TGT_ADD(counted.total[gnomon_class(size)], 1);
	TGT_ADD(counted.live[gnomon_class(size)], 1);
}

static void drop(void *p, size_t size)
{
	TGT_ADD(counted.live[gnomon_class(size)], -1);
	tgt_free(p, size);
}

static void *thread_work(void *unused)
{
	struct gnomon_summary own;
	void *p[100];
	int i;

	for (i = 0; i < 100; i++) {
		p[i] = tgt_malloc(size_of(i));
		count(size_of(i));
	}
	for (i = 0; i < 100; i += 2)
		drop(p[i], size_of(i));
	expect("thread's summary", gnomon_summarize(GNOMON_THREAD, &own), 0);
	expect("thread's allocations", own.allocations, 100);
	expect("thread's live blocks", own.live_blocks, 50);
	for (i = 1; i < 100; i += 2)
		drop(p[i], size_of(i));
	return unused;
}

static void work(void)
{
	pthread_t thread[THREADS];
	int i;

	for (i = 0; i < BLOCKS; i++) {
		kept[i] = tgt_malloc(size_of(i));
		count(size_of(i));
	}
	for (i = 0; i < BLOCKS; i += 3)
		drop(kept[i], size_of(i));
	for (i = 1; i < BLOCKS; i += 3) {
		kept[i] = tgt_realloc(kept[i], size_of(i), size_of(i) + 1);
		TGT_ADD(counted.live[gnomon_class(size_of(i))], -1);
		count(size_of(i) + 1);
	}
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, thread_work, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static struct gnomon_summary first;

/* The C library's own blocks (of threads) are few, and of these sizes: */
static void compare(uint64_t others)
{
	struct gnomon_summary now;
	struct gnomon_sizes sizes;
	uint64_t total = 0, live = 0, more = 0;
	unsigned i;

	expect("summary", gnomon_summarize(GNOMON_ALL, &now), 0);
	expect("histograms", gnomon_histograms(&sizes), 0);
	expect("allocations", now.allocations - first.allocations - others,
	       tgt_counts.allocations);
	expect("frees", now.frees - first.frees, tgt_counts.frees);
	expect("live blocks", now.live_blocks,
	       now.allocations - now.frees);
	for (i = 0; i < GNOMON_CLASSES; i++) {
		uint64_t got = sizes.total[i] - before.total[i];

		total += sizes.total[i];
		live += sizes.live[i];
		more += got - counted.total[i];
		if (got != counted.total[i] && i != gnomon_class(OTHERS))
			expect("class", got, counted.total[i]);
		if (i != gnomon_class(OTHERS))
			expect("live of class", sizes.live[i] - before.live[i],
			       counted.live[i]);
		expect("rest of class", sizes.rest[i], 0);
	}
	expect("blocks of the C library", more, others);
	expect("all classes", total, now.allocations);
	expect("live of all classes", live, now.live_blocks);
}

/* Sums of a dump's lines must be the summary's. */
struct sums {
	uint64_t number[5];
	char line[65536];
	size_t length;
	int lines;
};

static int add_lines(void *data, const char *text, size_t size)
{
	struct sums *sums = data;
	size_t i;
	int k;

	for (i = 0; i < size; i++) {
		char *at;

		sums->line[sums->length++] = text[i];
		if (sums->length == sizeof(sums->line))
			return -E2BIG;
		if (text[i] != '\n')
			continue;
		sums->line[sums->length] = '\0';
		at = strstr(sums->line, " $");
		for (k = 0; at && k < 5; k++)
			sums->number[k] += strtoull(strchr(at, '$') + 1, &at,
						    10);
		sums->length = 0;
		sums->lines++;
	}
	return 0;
}

static void dump_all(void)
{
	static struct sums sums;
	struct gnomon_dump how = {
		.fields = 31,
		.sort = GNOMON_COUNT,
		.prefix = "_mpTrace_;",
		.before_numbers = " $",
		.between_numbers = "$",
	};
	struct gnomon_summary now;
	int fd = open(getenv("DUMP") ? getenv("DUMP") : "/dev/null",
		      O_WRONLY | O_CREAT | O_TRUNC, 0600);

	gnomon_summarize(GNOMON_ALL, &now);
	expect("dump", gnomon_dump_to(&how, add_lines, &sums) > 0, 1);
	expect("dump's count", sums.number[0], now.allocations);
	expect("dump's total", sums.number[1], now.total_bytes);
	expect("dump's live", sums.number[2], now.live_bytes);
	expect("dump's blocks", sums.number[4], now.live_blocks);
	how.least = 0;
	expect("same dump", gnomon_dump(&how, fd), sums.lines);
	how.form = GNOMON_DETAIL;
	how.from = "work";
	expect("a detailed dump", gnomon_dump(&how, fd) > 0, 1);
	expect("no descriptor", gnomon_dump(&how, -1), (uint64_t)-EBADF);
	how.form = 7;
	expect("no form", gnomon_dump(&how, fd), (uint64_t)-EINVAL);
	close(fd);
}

/* Alone, a thread's events share their stamps; each question sees all. */
static void ask_often(void)
{
	struct gnomon_summary start, now;
	uint64_t made = 0;
	int i;

	gnomon_summarize(GNOMON_ALL, &start);
	for (i = 0; i < 20000; i++) {
		tgt_sink = malloc(10);
		made++;
		free(tgt_sink);
		if (i % 100 || gnomon_summarize(GNOMON_ALL, &now))
			continue;
		if (now.allocations - start.allocations != made) {
			expect("asked often", now.allocations -
			       start.allocations, made);
			return;
		}
	}
}

static void child(void)
{
	struct gnomon_summary now;
	void *p = malloc(10);

	gnomon_summarize(GNOMON_ALL, &now);
	free(p);
	/* its parent's are not its own */
	expect("a child's allocations", now.allocations < 10, 1);
	_exit(wrong);
}

/* What the trace is to say, too. */
static int report(void)
{
	struct gnomon_summary now;

	gnomon_summarize(GNOMON_ALL, &now);
	tgt_print("allocations", now.allocations);
	tgt_print("frees", now.frees);
	tgt_print("total_bytes", now.total_bytes);
	tgt_print("live_bytes", now.live_bytes);
	tgt_print("live_blocks", now.live_blocks);
	tgt_print("peak_bytes", now.peak_bytes);
	return wrong;
}

/* A child that is not recorded: its thread still knows its parent's ring. */
static int alone(void)
{
	struct gnomon_summary sum = { .allocations = 1 };
	int status;
	pid_t pid;

	kept[0] = malloc(100);
	expect("mine", gnomon_summarize(GNOMON_THREAD, &sum), 0);
	pid = fork();
	if (!pid) {
		expect("of me", gnomon_summarize(GNOMON_THREAD, &sum), -ENODEV);
		expect("nothing of me", sum.allocations, 0);
		expect("of all", gnomon_summarize(GNOMON_ALL, &sum), -ENODEV);
		_exit(wrong);
	}
	waitpid(pid, &status, 0);
	expect("child", status, 0);
	return wrong;
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc > 1 && argv[1][0] == 'a')
		return alone();
	expect("first", gnomon_summarize(GNOMON_ALL, &first), 0);
	gnomon_histograms(&before);
	work();
	compare(THREADS);	/* each has a block for its variables */
	dump_all();
	ask_often();
	pid = fork();
	if (!pid)
		child();
	waitpid(pid, &status, 0);
	expect("child", status, 0);
	if (argc > 1)
		return report();
	gnomon_clear();
	expect("cleared", gnomon_summarize(GNOMON_ALL, &first), 0);
	expect("nothing", first.allocations, 0);
	kept[1] = malloc(5);
	gnomon_summarize(GNOMON_ALL, &first);
	expect("one", first.total_bytes, 5);
	expect("one peak", first.peak_bytes, 5);
	return wrong;
}
