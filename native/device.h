/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.h -- the properties of devices
 */
#ifndef RPMA_JAVA_DEVICE_H
#define RPMA_JAVA_DEVICE_H

#include <infiniband/verbs.h>
#include <jni.h>

/*
 * The maximum number of bytes of one operation; INT32_MAX if the device reports no lower limit. It is the minimum of
 * all ports, because librpma does not report which port a connection uses.
 */
jint device_max_message_of(struct ibv_context *context);

/* 0 or librpma's code; inside a call that keeps the log messages */
int device_query(struct ibv_context *context, struct ibv_device_attr_ex *attributes);

/* 1 if the device is soft-RoCE, 0 if not, or librpma's code; inside a call that keeps the log messages */
int device_is_soft_roce(struct ibv_context *context);

/*
 * The name of the device and its limits, each as NAME=VALUE with the name in struct ibv_device_attr, separated by
 * spaces; NULL if the query fails, or with a pending OutOfMemoryError. Not inside another call.
 */
jbyteArray device_limits_of(JNIEnv *env, struct ibv_context *context);

#endif
