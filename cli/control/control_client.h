/*
 * control_client.h: asking the recorder in a running program, over its control
 * socket. Messages are printed here. Main thread.
 */
#ifndef GNOMON_CONTROL_CLIENT_H
#define GNOMON_CONTROL_CLIENT_H

#include <stdbool.h>

#include "cli/command/control_format.h"

struct control_reply {
	bool done;		/* else it was so already, as `message` says */
	bool on;		/* is recorded now */
	const char *name, *trace, *message;
	char line[CONTROL_ANSWER_MAX];	/* they lie here */
};

/* Whom a recorder records, if this is one; else the process itself. */
int control_client_recorded(int pid);

/* `request` is a line without its end. False after a message: it could not be
 * asked, or has refused. */
bool control_client_ask(int pid, const char *request,
			struct control_reply *reply);

#endif
