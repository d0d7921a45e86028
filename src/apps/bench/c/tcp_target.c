/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_target.c -- the target's side of TCP: receives messages, and acknowledges each message with a byte
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"
#include "target.h"
#include "tcp.h"

#define BUFFER (1UL << 20)
#define BACKLOG 8
#define MESSAGES 128 /* that a client can have under way at a time */

struct tcp_end {
	int fd;
	uint64_t size;	   /* of each message */
	uint64_t received; /* bytes of messages that are not yet acknowledged */
	struct watch bytes;
};

struct tcp_listener {
	int fd;
	struct watch requests;
};

/* so few acknowledgments never fill the buffer of the socket */
static void acknowledge(struct tcp_end *end)
{
	static const char acknowledgments[MESSAGES];
	uint64_t messages = end->received / end->size;
	if (messages > MESSAGES) {
		errno = EPROTO;
		fail("too many messages under way");
	}
	end->received %= end->size;
	send_tcp(end->fd, acknowledgments, messages);
}

static void serve_bytes(const struct target *target, void *subject)
{
	(void)target;
	static char buffer[BUFFER];
	struct tcp_end *end = subject;
	ssize_t received = recv(end->fd, buffer, sizeof(buffer), 0);
	if (received < 0 && errno != ECONNRESET)
		fail("recv()");
	if (received > 0) {
		end->received += (uint64_t)received;
		acknowledge(end);
		return;
	}
	close(end->fd);
	free(end);
}

/* the client first sends the size of its messages */
static void serve_tcp_request(const struct target *target, void *subject)
{
	const struct tcp_listener *listener = subject;
	struct tcp_end *end = calloc(1, sizeof(*end));
	if (end == NULL)
		fail("calloc()");
	end->fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
	if (end->fd < 0)
		fail("accept4()");
	if (recv(end->fd, &end->size, sizeof(end->size), MSG_WAITALL) != sizeof(end->size) || end->size == 0)
		fail("the size of the messages");
	set_no_delay(end->fd);
	end->bytes = (struct watch){ serve_bytes, end };
	start_watch(target, end->fd, &end->bytes);
}

void listen_for_tcp(const struct target *target, const char *address, int port)
{
	static struct tcp_listener listener;
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_PASSIVE, .ai_socktype = SOCK_STREAM };
	struct addrinfo *here = NULL;
	char service[16];
	int on = 1;
	snprintf(service, sizeof(service), "%d", port);
	if (getaddrinfo(address, service, &hints, &here) != 0)
		fail("getaddrinfo()");
	listener.fd = socket(here->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener.fd < 0 || setsockopt(listener.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(listener.fd, here->ai_addr, here->ai_addrlen) != 0 || listen(listener.fd, BACKLOG) != 0)
		fail("listen()");
	freeaddrinfo(here);
	listener.requests = (struct watch){ serve_tcp_request, &listener };
	start_watch(target, listener.fd, &listener.requests);
}
