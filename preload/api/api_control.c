/*
 * api_control.c: the functions of gnomon/gnomon.h that send control requests to
 * the recorder (control.h). Threads of the target, outside of hooks.
 */
#include <errno.h>
#include <string.h>

#include "preload/api/api.h"
#include "preload/base/control_request.h"
#include "preload/ring/control_call.h"

static int api_request(struct control_request *request)
{
	int err = api_may_request();

	if (err)
		return err;
	return control_call(request) ? request->err : -ETIMEDOUT;
}

static int api_request_for(enum control_what what, const char *name)
{
	struct control_request request = { .what = what };
	size_t length = name ? base_min(strlen(name), GNOMON_NAME_MAX) : 0;

	/* the same rule as for names from the command line */
	if (!control_is_plain(name, length))
		return -EINVAL;
	if (length)
		memcpy(request.name, name, length);
	return api_request(&request);
}

API(int, enable, (void))
{
	int err = api_request_for(CONTROL_START, NULL);

	return err == -EALREADY ? 0 : err;
}

API(int, disable, (void))
{
	int err = api_request_for(CONTROL_STOP, NULL);

	return err == -EALREADY ? 0 : err;
}

API(int, clear, (void))
{
	return api_request_for(CONTROL_CLEAR, NULL);
}

API(int, sync, (void))
{
	return api_request_for(CONTROL_SYNC, NULL);
}

API(int, marker, (const char *name))
{
	return name && *name ? api_request_for(CONTROL_MARKER, name) : -EINVAL;
}

API(int, snapshot, (const char *name))
{
	return api_request_for(CONTROL_SNAPSHOT, name);
}

static int api_request_every(enum control_what what, uint64_t ns)
{
	struct control_request request = { .what = what, .number = ns };

	if (ns && (ns < OPTIONS_SNAPSHOT_MIN || ns > OPTIONS_TIME_MAX))
		return -EINVAL;
	return api_request(&request);
}

API(int, snapshot_every, (uint64_t ns))
{
	return api_request_every(CONTROL_SNAPSHOT_EVERY, ns);
}

API(int, stats_every, (uint64_t ns))
{
	return api_request_every(CONTROL_STATS_EVERY, ns);
}
