/*
 * control_socket.c: see control_socket.h.
 *
 *	client: reads ── line ──▶ asks ── done ──▶ (waits for a snapshot) ──┐
 *	          ▲                                                         │
 *	          └──────────────────── answer is sent ◀────────────────────┘
 *
 * The socket name belongs to the first binder. After an exec, the recorder of
 * the previous program still has it for a moment, so binding is retried.
 *
 * I1: no call blocks. A client that sends no complete line in time, or does not
 *     read its answer, is disconnected.
 * I2: only the user who started the recording, or root, may connect.
 * I3: one line is one request. A client that sends more before the answer may
 *     have been tricked (a name with a newline in it): no request is handled.
 */
#include "cli/recorder/control_socket.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/recorder/base/result.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/control_probe.h"
#include "cli/recorder/recorder.h"
#include "unwind/base/assertion.h"

#define SOCKET_LOOK_NS (10 * UINT64_C(1000000))	/* check for connections */
#define SOCKET_BIND_NS (100 * UINT64_C(1000000))	/* between attempts */
#define SOCKET_IDLE_NS (10 * UINT64_C(1000000000))
/* then a new client replaces the oldest */
#define SOCKET_CROWD_NS (1 * UINT64_C(1000000000))
#define SOCKET_BACKLOG 16

/* ---- the socket ---- */

static long socket_bind(const struct control_socket *s)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t n = strlen(s->name);

	/* An abstract name begins with a NUL and has the given length. qemu's
	 * user emulation counts a NUL after the name as a part of it. */
	assert(1 + n < sizeof(at.sun_path));
	memset(at.sun_path + 1, '.', sizeof(at.sun_path) - 1);
	memcpy(at.sun_path + 1, s->name, n);
	return result_of(bind(s->fd, (const struct sockaddr *)&at,
			      offsetof(struct sockaddr_un, sun_path) + 1 + n));
}

static void socket_give_up(struct control_socket *s, long err)
{
	s->err = (int)err;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* Tries to bind. err is -EADDRINUSE until that works. */
static void socket_try(struct control_socket *s)
{
	long err = socket_bind(s);

	s->bound_ns = time_ns_now();
	s->err = (int)err;
	if (!err)
		err = result_of(listen(s->fd, SOCKET_BACKLOG));
	if (err && err != -EADDRINUSE)
		socket_give_up(s, err);
}

void control_socket_open(struct recorder *rec)
{
	struct control_socket *s = &rec->socket;
	unsigned i;
	long fd;

	for (i = 0; i < CONTROL_SOCKET_CLIENTS; i++)
		s->client[i] = (struct control_client){ .fd = -1 };
	fd = control_probe() ?
		     result_of(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK |
					       SOCK_CLOEXEC, 0)) :
		     -EPERM;
	s->fd = fd < 0 ? -1 : fd;
	s->err = fd < 0 ? fd : 0;
	if (s->fd >= 0)
		socket_try(s);
}

void control_socket_init(struct recorder *rec)
{
	struct control_socket *s = &rec->socket;

	s->user = geteuid();
	snprintf(s->name, sizeof(s->name), CONTROL_SOCKET_NAME "%d.%" PRIu64,
		 rec->r->pid, rec->r->start_time);
	control_socket_open(rec);
}

/* ---- clients ---- */

static void client_close(struct control_client *client)
{
	DEBUG_ASSERT(client->fd >= 0);
	close(client->fd);
	*client = (struct control_client){ .fd = -1 };
}

static bool client_send(int fd, const char *line, size_t n)
{
	return send(fd, line, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (long)n;
}

static bool client_answer(const struct recorder *rec, int fd,
			  const struct control_request *request)
{
	char line[CONTROL_ANSWER_MAX];
	size_t n = control_text_answer(line, request, !rec->control.off,
				       rec->output.path);

	return client_send(fd, line, n);
}

static void client_refuse(const struct recorder *rec, int fd, const char *why)
{
	struct control_request request = { .err = -EPERM };

	snprintf(request.message, sizeof(request.message), "%s", why);
	client_answer(rec, fd, &request);
	close(fd);
}

static bool client_may(const struct control_socket *s, int fd)
{
	struct ucred peer;
	unsigned size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
	    size != sizeof(peer))
		return false;
	return peer.uid == s->user || peer.uid == 0;
}

/* A free client slot, or the slot of the oldest idle client; NULL: all are busy
 * or new. */
static struct control_client *socket_place(struct control_socket *s,
					   uint64_t now_ns)
{
	struct control_client *oldest = &s->client[0];
	unsigned i;

	for (i = 0; i < CONTROL_SOCKET_CLIENTS; i++) {
		struct control_client *client = &s->client[i];

		if (client->fd < 0)
			return client;
		if (!client->asks && !client->waits &&
		    client->since_ns < oldest->since_ns)
			oldest = client;
	}
	if (oldest->asks || oldest->waits ||
	    now_ns - oldest->since_ns < SOCKET_CROWD_NS)
		return NULL;
	client_close(oldest);
	return oldest;
}

/* Whether a client waits for accept. accept itself would create and destroy a
 * file first, which takes ten times as long. */
static bool socket_is_asked(const struct control_socket *s)
{
	struct pollfd asked = { .fd = s->fd, .events = POLLIN };
	const struct timespec now = { 0, 0 };

	return ppoll(&asked, 1, &now, NULL) != 0;
}

static void socket_accept(struct recorder *rec, uint64_t now_ns)
{
	struct control_socket *s = &rec->socket;
	unsigned i;

	if (!socket_is_asked(s))
		return;
	for (i = 0; i < CONTROL_SOCKET_CLIENTS; i++) {
		int fd = accept4(s->fd, NULL, NULL,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct control_client *client;

		if (fd < 0)
			return;
		if (!client_may(s, fd)) {
			client_refuse(rec, fd, "is recorded by another user: run "
					     "this as that user or as root");
			continue;
		}
		client = socket_place(s, now_ns);
		if (!client) {
			client_refuse(rec, fd, "is busy with other commands: try "
					     "again");
			continue;
		}
		DEBUG_ASSERT(client->fd < 0);
		client->fd = fd;
		client->since_ns = now_ns;
	}
}

/* Parses a line that has arrived and empties the buffer. See I3. */
static void client_take(struct recorder *rec, struct control_client *client,
			size_t n)
{
	bool more = client->length > n + 1;

	DEBUG_ASSERT(n < client->length);
	client->length = 0;
	client->asks = !more && control_text_read(client->line, n,
						  &client->request);
	if (more)
		control_text_refuse(&client->request, "got more than one line "
				    "at once: nothing was done");
	if (!client->asks &&
	    (!client_answer(rec, client->fd, &client->request) || more))
		client_close(client);
}

/* Receives more of a line. False: the client closed, failed or is too late. */
static bool client_hear(struct control_client *client, uint64_t now_ns)
{
	long n = recv(client->fd, client->line + client->length,
		      sizeof(client->line) - client->length, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return now_ns - client->since_ns < SOCKET_IDLE_NS;
	if (n <= 0)
		return false;
	client->length += n;
	DEBUG_ASSERT(client->length <= sizeof(client->line));
	return true;
}

static size_t client_line(const struct control_client *client)
{
	return control_text_find(client->line, client->length, '\n');
}

static void client_read(struct recorder *rec, struct control_client *client,
			uint64_t now_ns)
{
	if (client_line(client) == client->length &&
	    !client_hear(client, now_ns)) {
		client_close(client);
	} else if (client_line(client) < client->length) {
		client_take(rec, client, client_line(client));
	} else if (client->length == sizeof(client->line)) {
		control_text_refuse(&client->request, CONTROL_TOO_LONG);
		client_answer(rec, client->fd, &client->request);
		client_close(client);
	}
}

static void client_serve(struct recorder *rec, struct control_client *client,
			 uint64_t now_ns)
{
	DEBUG_ASSERT(!client->asks || !client->waits);
	if (client->asks) {
		/* the next program's recorder answers itself */
		if (!target_same(&rec->target)) {
			client_close(client);
			return;
		}
		control_do(rec, &client->request);
		if (client->request.err == -EAGAIN)
			return;
		client->asks = false;
		client->waits = client->request.what == CONTROL_SNAPSHOT &&
				!client->request.err;
	} else if (!client->waits) {
		return;
	}
	if (client->waits && !control_taken(rec, client->request.number))
		return;
	client->waits = false;
	client->since_ns = now_ns;
	if (!client_answer(rec, client->fd, &client->request))
		client_close(client);
}

bool control_socket_busy(const struct control_socket *s)
{
	unsigned i;

	for (i = 0; s->fd >= 0 && i < CONTROL_SOCKET_CLIENTS; i++)
		if (s->client[i].fd >= 0)
			return true;
	return false;
}

void control_socket_step(struct recorder *rec, uint64_t now_ns)
{
	struct control_socket *s = &rec->socket;
	unsigned i;

	if (s->fd < 0)
		return;
	if (s->err) {
		if (now_ns - s->bound_ns >= SOCKET_BIND_NS)
			socket_try(s);
		return;
	}
	if (now_ns - s->looked_ns >= SOCKET_LOOK_NS) {
		s->looked_ns = now_ns;
		socket_accept(rec, now_ns);
	}
	for (i = 0; i < CONTROL_SOCKET_CLIENTS; i++) {
		struct control_client *client = &s->client[i];

		if (client->fd >= 0 && !client->asks && !client->waits)
			client_read(rec, client, now_ns);
		if (client->fd >= 0)
			client_serve(rec, client, now_ns);
	}
}

void control_socket_close(struct recorder *rec)
{
	struct control_socket *s = &rec->socket;
	unsigned i;

	for (i = 0; s->fd >= 0 && i < CONTROL_SOCKET_CLIENTS; i++)
		if (s->client[i].fd >= 0)
			client_close(&s->client[i]);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
