/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process.c -- what other native code of a JVM can do to its process: forbid system calls, and fork
 */
#define _GNU_SOURCE
#include <errno.h>
#include <jni.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* refuses membarrier(2) to all threads; returns 0, or an errno */
JNIEXPORT jint JNICALL Java_io_rpma_programs_ProcessProgram_forbidMembarrier(JNIEnv *env, jclass class)
{
	(void)env;
	(void)class;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		return errno;
	return 0;
}

/* forks a child that calls exit(); returns its status */
JNIEXPORT jint JNICALL Java_io_rpma_programs_ProcessProgram_forkAndExit(JNIEnv *env, jclass class)
{
	(void)env;
	(void)class;
	pid_t child = fork();
	if (child == 0)
		exit(0);
	int status = -1;
	return waitpid(child, &status, 0) == child ? status : -1;
}
