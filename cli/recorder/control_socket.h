/*
 * control_socket.h: requests from other processes (control_text.h). The
 * writer only; nothing here ever waits for anybody.
 */
#ifndef GNOMON_CONTROL_SOCKET_H
#define GNOMON_CONTROL_SOCKET_H

#include "cli/recorder/control_text.h"

#define CONTROL_SOCKET_CLIENTS 8

struct writer;

struct control_client {
	int fd;			/* -1: nobody */
	uint64_t since_ns;	/* it has asked for nothing */
	uint32_t length;
	char line[CONTROL_REQUEST_MAX];
	bool asks;		/* `request` is to be served, or served again */
	bool waits;		/* its snapshot is being taken */
	struct control_request request;
};

struct control_socket {
	int fd;			/* -1: nobody can connect */
	int err;		/* why; 0 */
	uint32_t user;		/* whose recording it is */
	uint64_t looked_ns, bound_ns;
	char name[CONTROL_SOCKET_NAME_MAX];
	struct control_client client[CONTROL_SOCKET_CLIENTS];
};

/* Once, as the writer begins; then, wherever its descriptors are gone. */
void control_socket_init(struct writer *w);
void control_socket_open(struct writer *w);

/* In each round. */
void control_socket_step(struct writer *w, uint64_t now_ns);

/* Whether anybody is connected: then rounds come more often. */
bool control_socket_busy(const struct control_socket *socket);

/* Nobody is served any more; the name is free for the next program of this
 * process. */
void control_socket_close(struct writer *w);

#endif
