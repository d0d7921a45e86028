/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * standin.h -- an RDMA device inside one process: libibverbs and the kernel's connection manager, for the real librpma
 * and the real librdmacm, loaded by LD_PRELOAD
 *
 * It carries out work requests between queue pairs of its process, with the semantics of reliable connections and of
 * datagrams, and is stricter than a device: every object carries a magic number, a freed object is poisoned and never
 * reused, and a call with a freed object ends the process. Tests make calls fail or wait.
 *
 * One lock, big_lock, guards the objects and their lists. A function whose name ends in _locked expects the caller to
 * hold the lock.
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* object.c */

enum kind { CHANNEL, CQ, PD, MR, SRQ, QP, AH, CM_FILE, CM_ID, CM_EVENT, KINDS };

void *object_new(enum kind kind, size_t size);
void *object_check(const void *object, enum kind kind, const char *call);
void object_free(void *object, enum kind kind, const char *call);
/* The largest number of live objects of a kind, which the device reports as its limit. */
int object_most(enum kind kind);
/* 0, or the errno of a call that would create one object more. */
int object_room(enum kind kind);
/* Takes the lock and checks the object, which no other thread can free until unlock(). */
void *object_lock(const void *object, enum kind kind, const char *call);
/* Ends the process with a message: a call has undefined behaviour, or exceeds a limit of the stand-in. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

extern pthread_mutex_t big_lock;
void lock(void);
void unlock(void);

/* fault.c: called without the lock at the start of a call; returns 0, or the errno that the call must fail with. */
int fault(const char *call);

/*
 * For the tests. A call is a function's name, or "ucma:" and a command of the kernel's connection manager. With two
 * further names, ibv_post_send() fails as on a device: "siw:post_send" reports success if the queue takes a part of the
 * work requests, and "rxe:post_send" fails after the queue has taken them all, and names none.
 */
void standin_fault(const char *call, int times, int error, bool gate);
/* Removes all faults, and releases the calls that wait at the gate. */
void standin_clear_faults(void);
/* Waits until at least this many calls wait at the gate; false after 20 s. */
bool standin_await_gate(int calls);
/*
 * Sets a limit of the device by its name in struct ibv_device_attr, for example max_qp; 0 restores the initial limit.
 */
void standin_limit(const char *name, int most);
void standin_device_event(int type, int port);
/* The numbers of live objects, as "2 queue pair, 1 memory region". */
const char *standin_alive(void);

/* ready.c: a descriptor that is readable while events are pending */

int ready_open(void);
void ready_set(int fd);
void ready_clear(int fd);
/* Waits until the descriptor is readable, as a read of it would: EAGAIN at once if it is non-blocking. */
int ready_wait(int fd);

/* verbs.c */

struct channel {
	struct ibv_comp_channel public;
	struct cq *first;
	struct cq *last;
};

enum armed { NOT_ARMED, SOLICITED, ANY };

struct cqe {
	struct ibv_wc wc;
	/* the number of places in the send queue that polling this completion frees */
	uint32_t slots;
};

struct cq {
	struct ibv_cq public;
	struct cqe *ring;
	uint32_t size;
	uint32_t head;
	uint32_t count;
	enum armed armed;
	uint32_t users;
	/* events pending in the channel, which lists this queue while the number is not 0 */
	uint32_t events;
	struct cq *next;
	struct channel *channel;
};

struct pd {
	struct ibv_pd public;
	uint32_t users;
};

struct mr {
	struct ibv_mr public;
	int access;
	struct mr *next;
};

/* The largest number of parts of a work request: as large as that of the shim. */
enum { MOST_SGE = 64 };

struct recv_wr {
	uint64_t wr_id;
	int num_sge;
	struct ibv_sge sges[MOST_SGE];
};

/* A ring of receives, of a queue pair or of a shared receive queue. */
struct recv_queue {
	struct recv_wr *ring;
	uint32_t size;
	uint32_t max_sge;
	uint32_t head;
	uint32_t count;
};

struct srq {
	struct ibv_srq public;
	struct recv_queue queue;
	uint32_t users;
};

extern struct ibv_context context;
#define DEVICE_ADDRESS "10.99.0.1"
/* Other addresses of the device, which stand for the first one. */
#define GLOBAL_ADDRESS "fd99::1"
#define LINK_LOCAL_ADDRESS "fe80::99"
/* A test can set it to 0, which some virtual functions have; librdmacm then does not know the device. */
extern uint64_t node_guid;

int channel_pop(struct channel *channel, struct cq **cq);
void cq_push_locked(struct cq *cq, const struct ibv_wc *wc, uint32_t slots, bool solicited);
/* Whether the key names a live region that holds the bytes, allows the access and is in the protection domain. */
bool mr_allows_locked(uint32_t key, uint64_t addr, uint64_t length, int access, const struct ibv_pd *pd);
int recv_queue_new(struct recv_queue *queue, uint32_t size, uint32_t max_sge);
int recv_queue_push_locked(struct recv_queue *queue, const struct ibv_recv_wr *wr);

/* qp.c */

int qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int qp_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* Frees places in the send queue of the queue pair with this number, if the queue pair still exists. */
void qp_retire_locked(uint32_t qp_num, uint32_t slots);
/* Retries work requests that wait for a receive or for the other side. */
void qp_progress_stalled_locked(void);
/* cm.c: the kernel's side of a descriptor of /dev/infiniband/rdma_cm */

struct cm_file;

struct cm_file *cm_file_new(int fd);
void cm_file_close(struct cm_file *file);
/* Carries out a command, as the kernel's write(2) does. */
long cm_write(struct cm_file *file, const void *command, size_t size);
/* Delivers an event of this number to each id that listens. */
void cm_notify_listeners(uint32_t type);
/* cdev.c: the file of a descriptor, or NULL. */
struct cm_file *cm_file_of(int fd);

#endif
