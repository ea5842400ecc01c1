/*
 * trace_reader_packet.c: packets between the front and readers
 * (trace_reader.h).
 */
#include "cli/serve/trace_reader.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FILES_SIZE (READER_FILES * sizeof(int))

union control {
	char bytes[CMSG_SPACE(FILES_SIZE)];
	struct cmsghdr align;
};

int trace_reader_send(int socket, const struct trace_reader_packet *packet,
		      const int *files)
{
	struct iovec part = { (void *)packet, sizeof(*packet) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union control control = { { 0 } };
	struct cmsghdr *head;
	ssize_t n;

	if (files != NULL) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(FILES_SIZE);
		memcpy(CMSG_DATA(head), files, FILES_SIZE);
	}
	do
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int trace_reader_receive(int socket, struct trace_reader_packet *packet,
			 int *files)
{
	struct iovec part = { packet, sizeof(*packet) };
	union control control;
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *head;
	ssize_t n;

	for (int i = 0; i < READER_FILES; i++)
		files[i] = -1;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n != (ssize_t)sizeof(*packet))
		return -EPIPE;
	head = CMSG_FIRSTHDR(&message);
	if (head != NULL && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(FILES_SIZE))
		memcpy(files, CMSG_DATA(head), FILES_SIZE);
	return 0;
}
