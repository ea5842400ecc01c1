/*
 * control_client.h: sends requests to the recorder of a running program over
 * its control socket. Prints its own messages. Main thread.
 */
#ifndef GNOMON_CONTROL_CLIENT_H
#define GNOMON_CONTROL_CLIENT_H

#include <stdbool.h>

#include "cli/command/control_format.h"

struct control_reply {
	bool done;		/* false: in that state already, as `message`
				 * says */
	bool on;		/* recording is on now */
	const char *name, *trace, *message;
	char line[CONTROL_ANSWER_MAX];	/* storage of these strings */
};

/* If `pid` is a recorder: the pid of its target; else `pid`. */
int control_client_recorded(int pid);

/* Sends `request`, a line without its line feed. False after a message: no
 * connection, or the recorder refused. */
bool control_client_request(int pid, const char *request,
			    struct control_reply *reply);

#endif
