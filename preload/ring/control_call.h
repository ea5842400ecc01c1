/* control_call.h: sends a control request from a thread of the target
 * (control_request.h). */
#ifndef GNOMON_CONTROL_CALL_H
#define GNOMON_CONTROL_CALL_H

#include <stdbool.h>

#include "preload/base/control_request.h"

/*
 * Sends the request to the recorder and waits for the answer; for a snapshot,
 * until it is taken. The request may lie on the stack. False: no recorder can
 * answer. A thread of the target outside of hooks, not in a handler.
 */
bool control_call(struct control_request *request);

#endif
