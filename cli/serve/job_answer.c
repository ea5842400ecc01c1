/*
 * job_answer.c: see job_answer.h.
 */
#include "cli/serve/job_answer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"
#include "cli/base/text/quantity.h"
#include "cli/base/io_full.h"

#define SAID_MAX 65536		/* bytes of standard error that are read */
#define MESSAGES_MAX 4096	/* bytes of messages in a header */

uint64_t job_answer_max(const struct job *job)
{
	return job->on_disk ? JOB_DOWNLOAD_MAX : JOB_ANSWER_MAX;
}

char *job_answer_said(int fd)
{
	char *text = grow_alloc(SAID_MAX + 1);
	ssize_t n = fd < 0 ? 0 : io_full_read_at(fd, text, SAID_MAX, 0);

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
		return answer_error(500, "the answer is lost");
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

static struct answer *killed_answer(const struct job_queue *queue,
				    const struct job *job, int number)
{
	LOCAL_BUFFER text = { 0 };

	switch (number) {
	case SIGALRM:
	case SIGXCPU:
		buffer_printf(&text, "the call took longer than --timeout %s: "
				     "request less, or start the server with a "
				     "longer one",
			      TIME_TEXT(queue->limits.timeout_ns));
		return answer_error(504, text.data);
	case SIGXFSZ:
		buffer_printf(&text, "the answer is larger than %s: request "
				     "less, for example with top",
			      SIZE_TEXT(job_answer_max(job)));
		return answer_error(503, text.data);
	case SIGKILL:
		return answer_error(503, "the call's process was killed: there "
					 "may be too little memory");
	default:
		buffer_printf(&text, "the call's process was killed by signal "
				     "%d (%s): this is a bug in gnomon", number,
			      strsignal(number));
		return answer_error(500, text.data);
	}
}

/* Messages from reading the trace belong to all its calls; repeated messages
 * appear once. */
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

struct answer *job_answer(const struct job_queue *queue, struct job *job,
			  int status)
{
	char *said = job_answer_said(job->files[READER_SAID]);
	struct answer *answer;
	LOCAL_BUFFER all = { 0 };

	if (WIFSIGNALED(status)) {
		answer = killed_answer(queue, job, WTERMSIG(status));
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
