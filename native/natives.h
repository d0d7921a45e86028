/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * natives.h -- the natives of every file, for onload.c
 */
#ifndef RPMA_JAVA_NATIVES_H
#define RPMA_JAVA_NATIVES_H

#include "jni_util.h"

extern const struct jni_table batch_natives;
extern const struct jni_table conn_cfg_natives;
extern const struct jni_table conn_natives;
extern const struct jni_table conn_req_natives;
extern const struct jni_table cq_natives;
extern const struct jni_table device_natives;
extern const struct jni_table ep_natives;
extern const struct jni_table handle_natives;
extern const struct jni_table limit_natives;
extern const struct jni_table log_natives;
extern const struct jni_table memory_natives;
extern const struct jni_table mr_local_natives;
extern const struct jni_table mr_remote_natives;
extern const struct jni_table peer_cfg_natives;
extern const struct jni_table peer_natives;
extern const struct jni_table poller_natives;
extern const struct jni_table rdmacm_addrinfo_natives;
extern const struct jni_table rdmacm_ah_natives;
extern const struct jni_table rdmacm_batch_natives;
extern const struct jni_table rdmacm_cq_natives;
extern const struct jni_table rdmacm_id_natives;
extern const struct jni_table rdmacm_mr_natives;
extern const struct jni_table rdmacm_qp_natives;
extern const struct jni_table rdmacm_srq_natives;
extern const struct jni_table srq_cfg_natives;
extern const struct jni_table srq_natives;
extern const struct jni_table versions_natives;
extern const struct jni_table wait_natives;

#endif
