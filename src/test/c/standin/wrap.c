/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrap.c -- wraps functions of the real librpma, of the real librdmacm and of the C library, so that tests can make
 * these functions fail: they contain no call that the stand-in could make fail instead
 */
#include "standin.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <librpma.h>
#include <rdma/rdma_cma.h>
#include <stdarg.h>

/* RTLD_NEXT does not find librpma and librdmacm, which are loaded later, as dependencies of other libraries. */
static void *of_library(const char *file, const char *name)
{
	void *library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
	void *function = library == NULL ? NULL : dlsym(library, name);
	if (function == NULL)
		die("no %s", name);
	return function;
}

/* Acknowledges the event even if the call must fail: only the result differs. */
int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	static int (*real)(struct rdma_cm_event *);
	if (real == NULL)
		real = (int (*)(struct rdma_cm_event *))of_library("librdmacm.so.1", "rdma_ack_cm_event");
	int error = fault("rdma_ack_cm_event");
	int result = real(event);
	if (error == 0)
		return result;
	errno = error;
	return -1;
}

int rpma_conn_get_private_data(const struct rpma_conn *conn, struct rpma_conn_private_data *data)
{
	static int (*real)(const struct rpma_conn *, struct rpma_conn_private_data *);
	if (real == NULL)
		real = (int (*)(const struct rpma_conn *,
				struct rpma_conn_private_data *))of_library("librpma.so.0",
									    "rpma_conn_get_private_data");
	return fault("rpma_conn_get_private_data") == 0 ? real(conn, data) : RPMA_E_INVAL;
}

/* Instead of a failure, the call succeeds without an object. */
int rpma_conn_cfg_new(struct rpma_conn_cfg **cfg)
{
	static int (*real)(struct rpma_conn_cfg **);
	if (real == NULL)
		real = (int (*)(struct rpma_conn_cfg **))of_library("librpma.so.0", "rpma_conn_cfg_new");
	return fault("rpma_conn_cfg_new") == 0 ? real(cfg) : 0;
}

/*
 * Instead of a failure, the call succeeds and leaves the errno, as a registration with on-demand paging leaves that of
 * the kernel's refusal to pin the memory.
 */
int rpma_mr_reg(struct rpma_peer *peer, void *ptr, size_t size, int usage, struct rpma_mr_local **mr)
{
	static int (*real)(struct rpma_peer *, void *, size_t, int, struct rpma_mr_local **);
	if (real == NULL)
		real = (int (*)(struct rpma_peer *, void *, size_t, int,
				struct rpma_mr_local **))of_library("librpma.so.0", "rpma_mr_reg");
	int result = real(peer, ptr, size, usage, mr);
	int error = fault("rpma_mr_reg");
	if (error != 0)
		errno = error;
	return result;
}

/*
 * Only calls that set flags can be made to fail. The JDK makes such calls too, for example for channels that do not
 * block.
 */
int fcntl(int fd, int command, ...)
{
	static int (*real)(int, int, ...);
	if (real == NULL)
		real = (int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl");
	va_list arguments;
	va_start(arguments, command);
	void *argument = va_arg(arguments, void *);
	va_end(arguments);
	int error = command == F_SETFL ? fault("fcntl") : 0;
	if (error == 0)
		return real(fd, command, argument);
	errno = error;
	return -1;
}

/* The addresses of a machine whose only network interface, lo, has those of the device. */
int getifaddrs(struct ifaddrs **all)
{
	static struct sockaddr_in loopback = { .sin_family = AF_INET };
	static struct sockaddr_in v4 = { .sin_family = AF_INET };
	static struct sockaddr_in6 global = { .sin6_family = AF_INET6 };
	static struct sockaddr_in6 link_local = { .sin6_family = AF_INET6, .sin6_scope_id = 1 };
	static struct ifaddrs list[] = {
		{ .ifa_next = &list[1], .ifa_name = (char *)"lo" },
		{ .ifa_next = &list[2], .ifa_name = (char *)"lo", .ifa_addr = (struct sockaddr *)&link_local },
		{ .ifa_next = &list[3], .ifa_name = (char *)"lo", .ifa_addr = (struct sockaddr *)&loopback },
		{ .ifa_next = &list[4], .ifa_name = (char *)"lo", .ifa_addr = (struct sockaddr *)&global },
		{ .ifa_name = (char *)"lo:label", .ifa_addr = (struct sockaddr *)&v4 },
	};
	errno = fault("getifaddrs");
	if (errno != 0)
		return -1;
	loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	(void)inet_pton(AF_INET, DEVICE_ADDRESS, &v4.sin_addr);
	(void)inet_pton(AF_INET6, GLOBAL_ADDRESS, &global.sin6_addr);
	(void)inet_pton(AF_INET6, LINK_LOCAL_ADDRESS, &link_local.sin6_addr);
	*all = list;
	return 0;
}

void freeifaddrs(struct ifaddrs *all)
{
	(void)all;
}
