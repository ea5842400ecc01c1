/*
 * work.c: see work.h.
 */
#include "cli/serve/work.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "cli/base/status.h"
#include "cli/base/text/json.h"
#include "cli/base/text/quantity.h"
#include "cli/base/whole.h"
#include "cli/serve/progress_board.h"
#include "cli/serve/work_reader.h"

#define SAID_MAX 65536		/* bytes of standard error that are looked at */
#define MESSAGES_MAX 4096	/* bytes of them in a header */
/* Of the time, a trace that grows is read for less than one part in so many. */
#define READINGS_APART 4

struct job {
	struct job *next;
	uint32_t number;
	uint64_t key;
	const struct route *route;
	struct served *trace;	/* whose reader runs it; NULL: of several */
	struct buffer words, input;
	enum worker_coding coding;
	struct work_reader *reader;	/* NULL: it waits */
	int files[READER_FILES];
	bool on_disk;		/* its output is, not in memory */
	struct work_client *clients;
	uint64_t begun_ms;
	uint32_t slot;		/* of the progress board */
	uint64_t told;		/* `done` of the last event */
};

/* ---- what is asked ---- */

static void add_word(struct buffer *words, const char *word)
{
	buffer_add(words, word, strlen(word) + 1);
}

static void add_words(struct buffer *words, const struct work_words *more)
{
	for (size_t i = 0; i < more->count; i++)
		add_word(words, more->list[i]);
}

static void add_sized(struct buffer *all, const struct buffer *part)
{
	buffer_little(all, part->size, sizeof(uint64_t));
	buffer_add(all, buffer_text(part), part->size);
}

/* Of this process alone (hash.h): after a new start, other options of the server
 * or another version of gnomon may answer otherwise. */
uint64_t work_key(const struct work_call *call)
{
	LOCAL_BUFFER all = { 0 };

	buffer_little(&all, call->coding, sizeof(uint64_t));
	for (int i = 0; i < 2 && call->traces[i] != NULL; i++) {
		buffer_add(&all, call->traces[i]->id, SERVED_ID);
		buffer_little(&all, call->traces[i]->generation,
			      sizeof(uint64_t));
	}
	add_sized(&all, &call->words);
	add_sized(&all, &call->input);
	if (call->operand != NULL)
		add_word(&all, call->operand);
	return hash_bytes(all.data, all.size) | 1;	/* never 0 */
}

static struct job *make_job(struct work *work, const struct work_call *call,
			    uint64_t key)
{
	struct job *job = grow_zeroed(1, sizeof(*job)), **end = &work->jobs;

	job->number = ++work->last_job;
	job->key = key;
	job->route = call->route;
	job->trace = call->traces[1] == NULL ? call->traces[0] : NULL;
	if (job->trace != NULL)
		job->trace->users++;
	job->coding = call->coding;
	job->slot = progress_board_take();
	job->begun_ms = event_loop_now_ms();
	for (int i = 0; i < READER_FILES; i++)
		job->files[i] = -1;
	buffer_add(&job->words, call->words.data, call->words.size);
	if (route_has_symbols(call->route))
		add_words(&job->words, work->common);
	if (call->route->reads_sources)
		add_words(&job->words, work->sources);
	add_word(&job->words, "--");
	for (int i = 0; i < 2 && call->traces[i] != NULL; i++)
		add_word(&job->words, call->traces[i]->path);
	if (call->operand != NULL)
		add_word(&job->words, call->operand);
	if (call->input.size > 0)
		buffer_add(&job->input, call->input.data, call->input.size);
	while (*end != NULL)
		end = &(*end)->next;
	*end = job;
	work->waiting++;
	return job;
}

static void free_job(struct work *work, struct job *job)
{
	struct job **at = &work->jobs;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	if (job->reader == NULL) {
		work->waiting--;
	} else {
		work->running--;
		job->reader->jobs--;
	}
	for (int i = 0; i < READER_FILES; i++)
		if (job->files[i] >= 0)
			close(job->files[i]);
	if (job->trace != NULL)
		job->trace->users--;
	progress_board_give(job->slot);
	buffer_free(&job->words);
	buffer_free(&job->input);
	free(job);
}

/* ---- what it came to ---- */

/* Bytes. */
static uint64_t output_max(const struct job *job)
{
	return job->on_disk ? WORK_DOWNLOAD_MAX : WORK_ANSWER_MAX;
}

/* What a process said, to be freed. */
static char *read_said(int fd)
{
	char *text = grow_alloc(SAID_MAX + 1);
	ssize_t n = fd < 0 ? 0 : whole_read_at(fd, text, SAID_MAX, 0);

	text[n > 0 ? n : 0] = 0;
	return text;
}

static struct answer *good_answer(struct job *job, const char *said)
{
	struct stat packed, plain;
	enum reader_file which = READER_OUT;
	struct answer *answer;

	if (fstat(job->files[READER_PACKED], &packed) != 0 ||
	    fstat(job->files[READER_OUT], &plain) != 0)
		return answer_error(500, "its answer is lost");
	if (packed.st_size > 0)
		which = READER_PACKED;
	answer = answer_new(200, job->route->type, job->files[which],
			    (uint64_t)(which == READER_OUT ? plain.st_size :
				       packed.st_size),
			    which == READER_OUT && job->on_disk);
	job->files[which] = -1;
	answer->coding = which == READER_PACKED ? job->coding : WORKER_PLAIN;
	answer->messages = answer_messages(said, MESSAGES_MAX);
	answer->key = job->key;
	return answer;
}

static struct answer *killed_answer(const struct work *work,
				    const struct job *job, int number)
{
	LOCAL_BUFFER text = { 0 };

	switch (number) {
	case SIGALRM:
	case SIGXCPU:
		buffer_printf(&text, "it took longer than --timeout %s: ask "
			      "for less, or start the server with more",
			      TIME_TEXT(work->limits.timeout_ns));
		return answer_error(504, text.data);
	case SIGXFSZ:
		buffer_printf(&text, "the answer has more than %s: ask for "
			      "less, as with top",
			      SIZE_TEXT(output_max(job)));
		return answer_error(503, text.data);
	case SIGKILL:
		return answer_error(503, "its process was killed: there may "
				    "be too little memory");
	default:
		buffer_printf(&text, "its process was killed by signal %d "
			      "(%s): this is a fault of gnomon's", number,
			      strsignal(number));
		return answer_error(500, text.data);
	}
}

/* What was wrong when the trace was read holds for all calls; what is said again
 * is there once. */
static const char *all_said(const struct job *job, const char *said,
			    struct buffer *all)
{
	const char *before = job->trace == NULL ? NULL : job->trace->said;

	while (before != NULL && *before != 0) {
		size_t length = strcspn(before, "\n");
		char *line = grow_copy(before, length);

		if (strstr(said, line) == NULL)
			buffer_printf(all, "%s\n", line);
		free(line);
		before += length + (before[length] != 0);
	}
	buffer_string(all, said);
	return buffer_text(all);
}

static struct answer *make_answer(const struct work *work, struct job *job,
				  int status)
{
	char *said = read_said(job->files[READER_SAID]);
	struct answer *answer;
	LOCAL_BUFFER all = { 0 };

	if (WIFSIGNALED(status)) {
		answer = killed_answer(work, job, WTERMSIG(status));
		free(said);
		return answer;
	}
	switch (WEXITSTATUS(status)) {
	case EXIT_COMPLETE:
	case EXIT_NO:
	case EXIT_PARTIAL:
		answer = good_answer(job, all_said(job, said, &all));
		break;
	case EXIT_NOTHING:
		answer = answer_error(400, said);
		break;
	case WORKER_NO_ROOM:
		answer = answer_error(503, said);
		break;
	default:
		answer = answer_error(500, said);
		break;
	}
	free(said);
	return answer;
}

/* All who wait get it; it is dropped. */
static void finish(struct work *work, struct job *job, struct answer *answer)
{
	struct work_client *client = job->clients, *next;

	if (answer->status == 200)
		answer_cache_keep(&work->cache, answer);
	free_job(work, job);
	for (; client != NULL; client = next) {
		next = client->next;
		client->job = NULL;
		client->next = NULL;
		client->done(client, answer_take(answer));
	}
	answer_drop(answer);
}

/* ---- running ---- */

/* A download may be large: a file without a name. */
static int open_out(struct job *job)
{
	const char *directory = getenv("TMPDIR");
	int fd = job->route->saved_as == NULL ? -1 :
		open(directory ? directory : "/tmp", O_TMPFILE | O_RDWR |
		     O_CLOEXEC, 0600);

	job->on_disk = fd >= 0;
	return fd >= 0 ? fd : memfd_create("out", MFD_CLOEXEC);
}

static bool open_files(struct job *job)
{
	job->files[READER_OUT] = open_out(job);
	job->files[READER_REQUEST] = worker_write_request(
		&job->words, &job->input, output_max(job), job->coding);
	job->files[READER_SAID] = memfd_create("said", MFD_CLOEXEC);
	job->files[READER_PACKED] = memfd_create("packed", MFD_CLOEXEC);
	for (int i = 0; i < READER_FILES; i++)
		if (job->files[i] < 0)
			return false;
	return true;
}

/* Begins it, if it can; else it waits on, or has failed. */
static void try_job(struct work *work, struct job *job)
{
	struct work_reader *reader = work_reader_find(work, job->trace);
	struct trace_reader_packet packet = {
		.kind = READER_RUN, .job = job->number, .slot = job->slot,
	};

	/* Reading is work, too. What was read before need not wait for it. */
	if (reader == NULL && work->running + work_reader_reading(work) >=
	    work->running_max)
		return;
	if (reader == NULL)
		reader = work_reader_start(work, job->trace);
	if (reader == NULL) {
		finish(work, job, answer_error(503, strerror(errno)));
		return;
	}
	if (!reader->ready)
		return;
	if (reader->status == EXIT_NOTHING) {
		char *said = read_said(reader->said);

		finish(work, job, answer_error(400, said));
		free(said);
		return;
	}
	if (!open_files(job) ||
	    trace_reader_send(reader->source.fd, &packet, job->files) != 0) {
		finish(work, job, answer_error(503, strerror(errno)));
		return;
	}
	job->reader = reader;
	reader->jobs++;
	work->waiting--;
	work->running++;
}

static void pump(struct work *work)
{
	struct job *job = work->jobs, *next;

	for (; job != NULL && work->running < work->running_max; job = next) {
		next = job->next;
		if (job->reader == NULL)
			try_job(work, job);
	}
	work_reader_retire(work);
}

static struct job *find_job(const struct work *work, uint32_t number)
{
	struct job *job = work->jobs;

	while (job != NULL && job->number != number)
		job = job->next;
	return job;
}

static void note_reading(struct work_reader *reader)
{
	struct served *trace = reader->trace;
	uint64_t now = event_loop_now_ms();

	if (trace == NULL)
		return;
	trace->next_ms = now + READINGS_APART * (now - reader->begun_ms);
	trace->read = reader->generation;
	trace->status = reader->status;
	free(trace->said);
	trace->said = read_said(reader->said);
}

void work_hear(struct work_reader *reader,
	       const struct trace_reader_packet *packet)
{
	struct work *work = reader->work;
	struct job *job, *next;

	if (packet == NULL) {
		for (job = work->jobs; job != NULL; job = next) {
			next = job->next;
			if (job->reader == reader ||
			    (job->reader == NULL && !reader->ready &&
			     job->trace == reader->trace))
				finish(work, job, answer_error(503,
					"the process that reads the trace has "
					"ended: there may be too little "
					"memory"));
		}
		work_reader_end(reader);
	} else if (packet->kind == READER_READY) {
		reader->ready = true;
		reader->status = packet->status;
		note_reading(reader);
	} else {
		job = find_job(work, packet->job);
		if (job != NULL && job->reader == reader)
			finish(work, job, make_answer(work, job,
						      packet->status));
	}
	pump(work);
}

/* ---- who waits ---- */

static void give_up(struct work *work, struct job *job)
{
	const struct trace_reader_packet packet = {
		.kind = READER_KILL, .job = job->number,
	};

	/* One that is gone has taken its workers with it. */
	if (job->reader != NULL)
		trace_reader_send(job->reader->source.fd, &packet, NULL);
	free_job(work, job);
}

void work_leave(struct work *work, struct work_client *client)
{
	struct job *job = client->job;
	struct work_client **at;

	if (job == NULL)
		return;
	for (at = &job->clients; *at != client; at = &(*at)->next)
		;
	*at = client->next;
	client->next = NULL;
	client->job = NULL;
	if (job->clients != NULL)
		return;
	give_up(work, job);
	pump(work);
}

static struct work_client *find_ticket(const struct work *work,
				       const char *ticket)
{
	for (struct job *job = work->jobs; job != NULL; job = job->next)
		for (struct work_client *client = job->clients; client != NULL;
		     client = client->next)
			if (client->ticket != NULL &&
			    strcmp(client->ticket, ticket) == 0)
				return client;
	return NULL;
}

unsigned work_cancel(struct work *work, const char *ticket)
{
	struct work_client *client;
	unsigned count = 0;

	while ((client = find_ticket(work, ticket)) != NULL) {
		work_leave(work, client);
		client->done(client, answer_error(409, "it was ended: its "
			"ticket was given to a newer call, or up"));
		count++;
	}
	return count;
}

void work_begin(struct work *work, const struct work_call *call,
		struct work_client *client)
{
	uint64_t key = work_key(call);
	struct answer *known = answer_cache_find(&work->cache, key);
	struct job *job;

	if (client->ticket != NULL)
		work_cancel(work, client->ticket);
	if (known != NULL) {
		client->done(client, known);
		return;
	}
	job = work->jobs;
	while (job != NULL && job->key != key)
		job = job->next;
	if (job == NULL && (work->waiting >= WORK_WAITING_MAX ||
			    answer_bytes() > WORK_ANSWERS_MAX)) {
		client->done(client, answer_error(503, "too many calls wait, "
			"or answers are not taken: try again later"));
		return;
	}
	if (job == NULL)
		job = make_job(work, call, key);
	client->job = job;
	client->next = job->clients;
	job->clients = client;
	pump(work);
}

/* What its worker, or else the reader that it waits for, is at. */
static struct progress_slot progress_of(const struct work *work,
					const struct job *job)
{
	for (const struct work_reader *reader = work->readers;
	     reader != NULL && job->reader == NULL; reader = reader->next)
		if (reader->trace == job->trace && !reader->ready)
			return progress_board_read(reader->slot);
	return progress_board_read(job->slot);
}

static void put_progress(struct json *json, const struct progress_slot *slot)
{
	json_string(json, "what", slot->what);
	json_uint(json, "done", slot->done);
	json_uint(json, "of", slot->total);
}

static void put_job(struct json *json, const struct work *work,
		    const struct job *job)
{
	struct progress_slot slot = progress_of(work, job);

	for (const struct work_client *client = job->clients; client != NULL;
	     client = client->next) {
		json_object(json, NULL);
		json_string(json, "ticket", client->ticket);
		json_string(json, "call", job->route->name);
		json_string(json, "trace", job->trace ? job->trace->id : NULL);
		json_bool(json, "running", job->reader != NULL);
		json_decimal(json, "seconds",
			     event_loop_now_ms() - job->begun_ms, 3);
		put_progress(json, &slot);
		json_end_object(json);
	}
}

void work_json(const struct work *work, struct buffer *out)
{
	struct json_text text;
	struct json *json = json_text_begin(&text, false);

	json_object(json, NULL);
	json_uint(json, "schema", 1);
	json_array(json, "work");
	for (const struct job *job = work->jobs; job != NULL; job = job->next)
		put_job(json, work, job);
	json_end_array(json);
	json_end_object(json);
	json_text_end(&text, out);
}

static void add_progress(const struct job *job,
			 const struct progress_slot *slot, struct buffer *out)
{
	for (const struct work_client *client = job->clients; client != NULL;
	     client = client->next) {
		struct json_text text;
		struct json *json = json_text_begin(&text, true);

		json_object(json, NULL);
		json_string(json, "ticket", client->ticket);
		put_progress(json, slot);
		json_end_object(json);
		buffer_string(out, "event: progress\ndata: ");
		json_text_end(&text, out);
		buffer_string(out, "\n\n");
	}
}

void work_progress(struct work *work, struct buffer *out)
{
	for (struct job *job = work->jobs; job != NULL; job = job->next) {
		struct progress_slot slot = progress_of(work, job);

		if (slot.what[0] == 0 || slot.done == job->told)
			continue;
		job->told = slot.done;
		add_progress(job, &slot, out);
	}
}

void work_close(struct work *work)
{
	while (work->jobs != NULL)
		finish(work, work->jobs,
		       answer_error(503, "the server is ending"));
	while (work->readers != NULL)
		work_reader_end(work->readers);
	answer_cache_clear(&work->cache);
}
