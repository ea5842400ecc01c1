/*
 * job_status.c: the progress of calls, on request (job_queue_json) and as
 * events (job_queue_progress; job_queue.h).
 */
#include "cli/base/text/json.h"
#include "cli/serve/progress_board.h"
#include "cli/serve/job.h"
#include "cli/serve/reader_process.h"

/* The progress of the job's worker, or else of the reader it waits for. */
static struct progress_slot progress_of(const struct job_queue *queue,
					const struct job *job)
{
	for (const struct reader_process *reader = queue->readers;
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

static void put_job(struct json *json, const struct job_queue *queue,
		    const struct job *job)
{
	struct progress_slot slot = progress_of(queue, job);

	for (const struct job_client *client = job->clients; client != NULL;
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

void job_queue_json(const struct job_queue *queue, struct buffer *out)
{
	struct json_text text;
	struct json *json = json_text_begin(&text, false);

	json_object(json, NULL);
	json_uint(json, "schema", 1);
	json_array(json, "work");
	for (const struct job *job = queue->jobs; job != NULL; job = job->next)
		put_job(json, queue, job);
	json_end_array(json);
	json_end_object(json);
	json_text_end(&text, out);
}

static void add_progress(const struct job *job,
			 const struct progress_slot *slot, struct buffer *out)
{
	for (const struct job_client *client = job->clients; client != NULL;
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

void job_queue_progress(struct job_queue *queue, struct buffer *out)
{
	for (struct job *job = queue->jobs; job != NULL; job = job->next) {
		struct progress_slot slot = progress_of(queue, job);

		if (slot.what[0] == 0 || slot.done == job->reported)
			continue;
		job->reported = slot.done;
		add_progress(job, &slot, out);
	}
}
