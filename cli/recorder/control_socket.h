/*
 * control_socket.h: the socket on which other processes send requests
 * (control_text.h). The recorder only; no function here blocks.
 */
#ifndef GNOMON_CONTROL_SOCKET_H
#define GNOMON_CONTROL_SOCKET_H

#include "cli/recorder/control_text.h"

#define CONTROL_SOCKET_CLIENTS 8

struct recorder;

struct control_client {
	int fd;			/* -1: no client */
	uint64_t since_ns;	/* without a request since then */
	uint32_t length;
	char line[CONTROL_REQUEST_MAX];
	bool asks;		/* `request` is to be handled, or handled
				 * again */
	bool waits;		/* its snapshot is being taken */
	struct control_request request;
};

struct control_socket {
	int fd;			/* -1: not open */
	int err;		/* errno if not open; else 0 */
	uint32_t user;		/* user id that may connect */
	uint64_t looked_ns, bound_ns;
	char name[CONTROL_SOCKET_NAME_MAX];
	struct control_client client[CONTROL_SOCKET_CLIENTS];
};

/* init: once, as the recorder starts. open: at the start, and again if the
 * program has closed the recorder's descriptors. */
void control_socket_init(struct recorder *rec);
void control_socket_open(struct recorder *rec);

/* In each round. */
void control_socket_step(struct recorder *rec, uint64_t now_ns);

/* Whether a client is connected: then the recorder makes rounds more often. */
bool control_socket_busy(const struct control_socket *socket);

/* Closes all connections and frees the name for the next program that this
 * process executes. */
void control_socket_close(struct recorder *rec);

#endif
