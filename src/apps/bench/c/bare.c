/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bare.c -- the client in C for a caller in Java: the natives of io.rpma.bench.device.Bare
 *
 * The natives check no argument, protect no object against close, and end the process on each failure. So their cost is
 * the cost of JNI, which is the minimum for a binding.
 */
#include <jni.h>
#include <stdio.h>
#include <stdlib.h>

#include "client.h"

#define NAME 256

static struct {
	char address[NAME];
	struct client client;
	struct connection connection;
	struct load load;
} session;

static void copy_name(JNIEnv *env, jstring name, char copy[NAME])
{
	jsize size = (*env)->GetStringUTFLength(env, name);
	if (size >= NAME) {
		fputs("a name is too long\n", stderr);
		exit(EXIT_FAILURE);
	}
	(*env)->GetStringUTFRegion(env, name, 0, (*env)->GetStringLength(env, name), copy);
	copy[size] = '\0';
}

JNIEXPORT void JNICALL Java_io_rpma_bench_device_Bare_open(JNIEnv *env, jclass bare, jstring address, jint port)
{
	(void)bare;
	show_errors();
	copy_name(env, address, session.address);
	session.client = open_client(session.address, port);
	session.connection = open_connection(&session.client, port, QUEUE_SIZE);
}

/* only librpma's operations */
JNIEXPORT void JNICALL Java_io_rpma_bench_device_Bare_setLoad(JNIEnv *env, jclass bare, jstring operation, jlong size,
							      jint depth, jstring completions)
{
	(void)bare;
	char name[NAME];
	copy_name(env, operation, name);
	session.load.operation = operation_of(name);
	session.load.size = (size_t)size;
	session.load.depth = (unsigned)depth;
	copy_name(env, completions, name);
	session.load.completions = completions_of(name);
	if (session.load.operation >= RDMA_WRITE || session.load.completions == COMPLETIONS) {
		fputs("no such load\n", stderr);
		exit(EXIT_FAILURE);
	}
}

JNIEXPORT void JNICALL Java_io_rpma_bench_device_Bare_post(JNIEnv *env, jclass bare, jlong number)
{
	(void)env;
	(void)bare;
	post_operation(&session.client, &session.connection, &session.load, (uint64_t)number);
}

JNIEXPORT void JNICALL Java_io_rpma_bench_device_Bare_receive(JNIEnv *env, jclass bare, jlong number)
{
	(void)env;
	(void)bare;
	receive_answer(&session.client, &session.connection, &session.load, (uint64_t)number);
}

JNIEXPORT jint JNICALL Java_io_rpma_bench_device_Bare_take(JNIEnv *env, jclass bare)
{
	(void)env;
	(void)bare;
	return (jint)take_completions(&session.client, &session.connection, &session.load);
}
