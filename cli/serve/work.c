/*
 * work.c: see work.h.
 */
#include "cli/serve/work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "cli/base/status.h"
#include "cli/serve/progress_board.h"
#include "cli/serve/work_answer.h"
#include "cli/serve/work_job.h"
#include "cli/serve/work_reader.h"

/* A growing trace is reread for at most 1/READINGS_APART of the time. */
#define READINGS_APART 4

/* ---- calls ---- */

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

/* Valid only in this process (hash.h): after a restart, other server options or
 * another version of gnomon may change the answer. */
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

/* ---- ended ---- */

/* Send the answer to all waiting clients and drop it. */
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

/* A download may be large: use an unnamed temporary file. */
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
		&job->words, &job->input, work_answer_max(job), job->coding);
	job->files[READER_SAID] = memfd_create("said", MFD_CLOEXEC);
	job->files[READER_PACKED] = memfd_create("packed", MFD_CLOEXEC);
	for (int i = 0; i < READER_FILES; i++)
		if (job->files[i] < 0)
			return false;
	return true;
}

/* Start the job if possible; otherwise it keeps waiting, or has failed. */
static void try_job(struct work *work, struct job *job)
{
	struct work_reader *reader = work_reader_find(work, job->trace);
	struct trace_reader_packet packet = {
		.kind = READER_RUN, .job = job->number, .slot = job->slot,
	};

	/* Reading a trace counts as a running job. Jobs of ready readers need
	 * not wait for it. */
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
		char *said = work_answer_said(reader->said);

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
	trace->said = work_answer_said(reader->said);
}

void work_subscribe(struct work_reader *reader,
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
					"the process that reads the trace "
					"died: there may be too little "
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
			finish(work, job, work_answer(work, job,
						      packet->status));
	}
	pump(work);
}

/* ---- clients ---- */

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
		client->done(client, answer_error(409, "cancelled: its ticket "
						       "was cancelled or "
						       "reused by a newer "
						       "call"));
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
		client->done(client, answer_error(503, "too many calls are "
						       "waiting, or too many "
						       "answers are unread: "
						       "try again later"));
		return;
	}
	if (job == NULL)
		job = make_job(work, call, key);
	client->job = job;
	client->next = job->clients;
	job->clients = client;
	pump(work);
}

void work_close(struct work *work)
{
	while (work->jobs != NULL)
		finish(work, work->jobs,
		       answer_error(503, "the server is shutting down"));
	while (work->readers != NULL)
		work_reader_end(work->readers);
	answer_cache_clear(&work->cache);
}
