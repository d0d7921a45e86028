/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp.h -- messages over TCP, each of which the target acknowledges with a byte
 */
#ifndef RPMA_BENCH_TCP_H
#define RPMA_BENCH_TCP_H

#include <stddef.h>
#include <stdint.h>

/* connects to the target, for messages of this size */
int open_tcp(const char *address, int port, uint64_t size);

/* sends all bytes; waits while the socket's buffer is full */
void send_tcp(int fd, const char *bytes, size_t size);

/* waits for acknowledgments, and returns their number */
unsigned take_acknowledgments(int fd);

/* sends the bytes of a message without waiting for others */
void set_no_delay(int fd);

#endif
