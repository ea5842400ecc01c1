/* control_ask.h: a request of a thread of the target (control_request.h). */
#ifndef GNOMON_CONTROL_ASK_H
#define GNOMON_CONTROL_ASK_H

#include <stdbool.h>

#include "preload/base/control_request.h"

/*
 * Has the writer serve it, and waits for the answer, of a snapshot until it is
 * taken; the request may lie on the stack. False: there is no writer that
 * could answer. A thread of the target outside of hooks, not in a handler.
 */
bool control_ask(struct control_request *request);

#endif
