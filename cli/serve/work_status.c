/*
 * work_status.c: the progress of calls, on request (work_json) and as events
 * (work_progress; work.h).
 */
#include "cli/base/text/json.h"
#include "cli/serve/progress_board.h"
#include "cli/serve/work_job.h"
#include "cli/serve/work_reader.h"

/* The progress of the job's worker, or else of the reader it waits for. */
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

		if (slot.what[0] == 0 || slot.done == job->reported)
			continue;
		job->reported = slot.done;
		add_progress(job, &slot, out);
	}
}
