/*
 * device.h -- what devices report about themselves
 */
#ifndef RPMA_JAVA_DEVICE_H
#define RPMA_JAVA_DEVICE_H

#include <infiniband/verbs.h>
#include <jni.h>
#include <stdint.h>

/* how many bytes one operation of a port transfers, at most INT32_MAX; INT32_MAX if the port does not report a number */
jint device_max_message_of_port(struct ibv_context *context, uint8_t port);

#endif
