/*
 * onload.c -- registers every native with io.rpma.Natives and io.rpma.rdmacm.Natives; the only exported symbols
 */
#include "log.h"
#include "natives.h"
#include "thread.h"

static const struct jni_table *const rdmacm_tables[] = {
	&rdmacm_addrinfo_natives, &rdmacm_ah_natives, &rdmacm_cq_natives,  &rdmacm_id_natives,
	&rdmacm_mr_natives,	  &rdmacm_qp_natives, &rdmacm_srq_natives,
};

static int register_tables(JNIEnv *env, jclass natives, const struct jni_table *const *first, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if ((*env)->RegisterNatives(env, natives, first[i]->methods, (jint)first[i]->count) != 0)
			return JNI_ERR;
	}
	return 0;
}

/* when io.rpma.rdmacm.Natives is initialised: to find it in JNI_OnLoad would initialise it there, which could deadlock */
static jint register_rdmacm(JNI_PARAMS, jclass rdmacm_natives)
{
	return register_tables(env, rdmacm_natives, rdmacm_tables, sizeof(rdmacm_tables) / sizeof(rdmacm_tables[0]));
}

static const JNINativeMethod methods[] = {
	{"registerRdmacm", "(Ljava/lang/Class;)I", register_rdmacm},
};

static const struct jni_table onload_natives = {methods, sizeof(methods) / sizeof(methods[0])};

static const struct jni_table *const tables[] = {
	&batch_natives,      &conn_cfg_natives,   &conn_natives,       &conn_req_natives,   &cq_natives,
	&device_natives,     &ep_natives,         &handle_natives,     &log_natives,        &memory_natives,
	&mr_local_natives,   &mr_remote_natives,  &onload_natives,     &peer_cfg_natives,   &peer_natives,
	&poller_natives,     &srq_cfg_natives,    &srq_natives,        &wait_natives,
};

static int register_natives(JNIEnv *env)
{
	jclass natives = (*env)->FindClass(env, "io/rpma/Natives");
	if (natives == NULL || register_tables(env, natives, tables, sizeof(tables) / sizeof(tables[0])) != 0)
		return JNI_ERR;
	(*env)->DeleteLocalRef(env, natives);
	return 0;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved __attribute__((unused)))
{
	JNIEnv *env;
	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) != JNI_OK)
		return JNI_ERR;
	if (thread_init() != 0 || register_natives(env) != 0 || log_init() != 0)
		return JNI_ERR;
	return JNI_VERSION_10;
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *vm __attribute__((unused)), void *reserved __attribute__((unused)))
{
	log_fini();
}
