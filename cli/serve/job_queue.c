/*
 * job_queue.c: see job_queue.h.
 */
#include "cli/serve/job_queue.h"

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
#include "cli/serve/job_answer.h"
#include "cli/serve/job.h"
#include "cli/serve/reader_process.h"

/* A growing trace is reread for at most 1/READINGS_APART of the time. */
#define READINGS_APART 4

/* ---- calls ---- */

static void add_word(struct buffer *words, const char *word)
{
	buffer_add(words, word, strlen(word) + 1);
}

static void add_words(struct buffer *words, const struct job_options *more)
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
uint64_t job_request_key(const struct job_request *call)
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

static struct job *make_job(struct job_queue *queue,
			    const struct job_request *call, uint64_t key)
{
	struct job *job = grow_zeroed(1, sizeof(*job)), **end = &queue->jobs;

	job->number = ++queue->last_job;
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
		add_words(&job->words, queue->common);
	if (call->route->reads_sources)
		add_words(&job->words, queue->sources);
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
	queue->waiting++;
	return job;
}

static void free_job(struct job_queue *queue, struct job *job)
{
	struct job **at = &queue->jobs;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	if (job->reader == NULL) {
		queue->waiting--;
	} else {
		queue->running--;
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
static void finish(struct job_queue *queue, struct job *job,
		   struct answer *answer)
{
	struct job_client *client = job->clients, *next;

	if (answer->status == 200)
		answer_cache_keep(&queue->cache, answer);
	free_job(queue, job);
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
		&job->words, &job->input, job_answer_max(job), job->coding);
	job->files[READER_SAID] = memfd_create("said", MFD_CLOEXEC);
	job->files[READER_PACKED] = memfd_create("packed", MFD_CLOEXEC);
	for (int i = 0; i < READER_FILES; i++)
		if (job->files[i] < 0)
			return false;
	return true;
}

/* Start the job if possible; otherwise it keeps waiting, or has failed. */
static void try_job(struct job_queue *queue, struct job *job)
{
	struct reader_process *reader = reader_process_find(queue, job->trace);
	struct trace_reader_packet packet = {
		.kind = READER_RUN, .job = job->number, .slot = job->slot,
	};

	/* Reading a trace counts as a running job. Jobs of ready readers need
	 * not wait for it. */
	if (reader == NULL && queue->running + reader_process_reading(queue) >=
	    queue->running_max)
		return;
	if (reader == NULL)
		reader = reader_process_start(queue, job->trace);
	if (reader == NULL) {
		finish(queue, job, answer_error(503, strerror(errno)));
		return;
	}
	if (!reader->ready)
		return;
	if (reader->status == EXIT_NOTHING) {
		char *said = job_answer_said(reader->said);

		finish(queue, job, answer_error(400, said));
		free(said);
		return;
	}
	if (!open_files(job) ||
	    trace_reader_send(reader->source.fd, &packet, job->files) != 0) {
		finish(queue, job, answer_error(503, strerror(errno)));
		return;
	}
	job->reader = reader;
	reader->jobs++;
	queue->waiting--;
	queue->running++;
}

static void pump(struct job_queue *queue)
{
	struct job *job = queue->jobs, *next;

	for (; job != NULL && queue->running < queue->running_max; job = next) {
		next = job->next;
		if (job->reader == NULL)
			try_job(queue, job);
	}
	reader_process_retire(queue);
}

static struct job *find_job(const struct job_queue *queue, uint32_t number)
{
	struct job *job = queue->jobs;

	while (job != NULL && job->number != number)
		job = job->next;
	return job;
}

static void note_reading(struct reader_process *reader)
{
	struct served *trace = reader->trace;
	uint64_t now = event_loop_now_ms();

	if (trace == NULL)
		return;
	trace->next_ms = now + READINGS_APART * (now - reader->begun_ms);
	trace->read = reader->generation;
	trace->status = reader->status;
	free(trace->said);
	trace->said = job_answer_said(reader->said);
}

void job_queue_subscribe(struct reader_process *reader,
			 const struct trace_reader_packet *packet)
{
	struct job_queue *queue = reader->queue;
	struct job *job, *next;

	if (packet == NULL) {
		for (job = queue->jobs; job != NULL; job = next) {
			next = job->next;
			if (job->reader == reader ||
			    (job->reader == NULL && !reader->ready &&
			     job->trace == reader->trace))
				finish(queue, job, answer_error(503,
					"the process that reads the trace "
					"died: there may be too little "
					"memory"));
		}
		reader_process_end(reader);
	} else if (packet->kind == READER_READY) {
		reader->ready = true;
		reader->status = packet->status;
		note_reading(reader);
	} else {
		job = find_job(queue, packet->job);
		if (job != NULL && job->reader == reader)
			finish(queue, job, job_answer(queue, job,
						      packet->status));
	}
	pump(queue);
}

/* ---- clients ---- */

static void give_up(struct job_queue *queue, struct job *job)
{
	const struct trace_reader_packet packet = {
		.kind = READER_KILL, .job = job->number,
	};

	/* One that is gone has taken its workers with it. */
	if (job->reader != NULL)
		trace_reader_send(job->reader->source.fd, &packet, NULL);
	free_job(queue, job);
}

void job_queue_leave(struct job_queue *queue, struct job_client *client)
{
	struct job *job = client->job;
	struct job_client **at;

	if (job == NULL)
		return;
	for (at = &job->clients; *at != client; at = &(*at)->next)
		;
	*at = client->next;
	client->next = NULL;
	client->job = NULL;
	if (job->clients != NULL)
		return;
	give_up(queue, job);
	pump(queue);
}

static struct job_client *find_ticket(const struct job_queue *queue,
				      const char *ticket)
{
	for (struct job *job = queue->jobs; job != NULL; job = job->next)
		for (struct job_client *client = job->clients; client != NULL;
		     client = client->next)
			if (client->ticket != NULL &&
			    strcmp(client->ticket, ticket) == 0)
				return client;
	return NULL;
}

unsigned job_queue_cancel(struct job_queue *queue, const char *ticket)
{
	struct job_client *client;
	unsigned count = 0;

	while ((client = find_ticket(queue, ticket)) != NULL) {
		job_queue_leave(queue, client);
		client->done(client, answer_error(409, "cancelled: its ticket "
						       "was cancelled or "
						       "reused by a newer "
						       "call"));
		count++;
	}
	return count;
}

void job_queue_begin(struct job_queue *queue, const struct job_request *call,
		     struct job_client *client)
{
	uint64_t key = job_request_key(call);
	struct answer *known = answer_cache_find(&queue->cache, key);
	struct job *job;

	if (client->ticket != NULL)
		job_queue_cancel(queue, client->ticket);
	if (known != NULL) {
		client->done(client, known);
		return;
	}
	job = queue->jobs;
	while (job != NULL && job->key != key)
		job = job->next;
	if (job == NULL && (queue->waiting >= JOBS_WAITING_MAX ||
			    answer_bytes() > JOB_ANSWERS_MAX)) {
		client->done(client, answer_error(503, "too many calls are "
						       "waiting, or too many "
						       "answers are unread: "
						       "try again later"));
		return;
	}
	if (job == NULL)
		job = make_job(queue, call, key);
	client->job = job;
	client->next = job->clients;
	job->clients = client;
	pump(queue);
}

void job_queue_close(struct job_queue *queue)
{
	while (queue->jobs != NULL)
		finish(queue, queue->jobs,
		       answer_error(503, "the server is shutting down"));
	while (queue->readers != NULL)
		reader_process_end(queue->readers);
	answer_cache_clear(&queue->cache);
}
