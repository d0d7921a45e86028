/*
 * device.h -- what devices report about themselves
 */
#ifndef RPMA_JAVA_DEVICE_H
#define RPMA_JAVA_DEVICE_H

#include <infiniband/verbs.h>
#include <jni.h>

/*
 * the number of bytes that one operation of any port transfers, at most INT32_MAX; INT32_MAX if the device reports none; not of
 * one port, because librpma does not report which of them a connection uses
 */
jint device_max_message_of(struct ibv_context *context);

#endif
