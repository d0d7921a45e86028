/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp.c -- the client's side of TCP
 */
#include "tcp.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>

#include "common.h"

#define ACKNOWLEDGMENTS 64

void set_no_delay(int fd)
{
	int on = 1;
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
		fail("setsockopt(TCP_NODELAY)");
}

void send_tcp(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
		if (sent < 0)
			fail("send()");
		bytes += sent;
		size -= (size_t)sent;
	}
}

unsigned take_acknowledgments(int fd)
{
	char bytes[ACKNOWLEDGMENTS];
	ssize_t received = recv(fd, bytes, sizeof(bytes), 0);
	if (received == 0)
		errno = ECONNRESET;
	if (received <= 0)
		fail("recv()");
	return (unsigned)received;
}

int open_tcp(const char *address, int port, uint64_t size)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	struct addrinfo *there = NULL;
	char service[16];
	snprintf(service, sizeof(service), "%d", port);
	if (getaddrinfo(address, service, &hints, &there) != 0)
		fail("getaddrinfo()");
	int fd = socket(there->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, there->ai_addr, there->ai_addrlen) != 0)
		fail("connect()");
	freeaddrinfo(there);
	set_no_delay(fd);
	send_tcp(fd, (const char *)&size, sizeof(size));
	return fd;
}
