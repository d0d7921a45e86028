/*
 * standin.h -- an RDMA device inside one process: libibverbs and the kernel's connection manager, for the real librpma and
 * the real librdmacm, loaded by LD_PRELOAD
 *
 * It carries out work requests between queue pairs of its process, with the semantics of a reliable connection, and is
 * strict where a device forgives: every object carries a magic number, a freed one is poisoned and never reused, and a call
 * with one ends the process. Tests make calls fail or wait.
 *
 * One lock, big_lock, guards everything. A function whose name ends in _locked expects it to be held.
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
/* Takes the lock and checks the object under it, where no other thread can free it any more. */
void *object_lock(const void *object, enum kind kind, const char *call);
/* Ends the process with a message: the tested library has done what would be undefined. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

extern pthread_mutex_t big_lock;
void lock(void);
void unlock(void);

/* fault.c: to be called without the lock at the begin of a call; returns 0, or the errno that the call shall fail with. */
int fault(const char *call);

/* For the tests; calls are functions of libibverbs, and "ucma:" with a command of the kernel's connection manager. */
void standin_fault(const char *call, int times, int error, bool gate);
/* Forgets the faults, and lets go on what waits at the gate. */
void standin_clear_faults(void);
/* Waits until so many calls wait at the gate; false after 20 s. */
bool standin_await_gate(int calls);
/* What is alive, as "2 queue pair, 1 memory region". */
const char *standin_alive(void);

/* ready.c: a descriptor that is readable while something waits in a queue */

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
	/* how many places of the send queue are free when it is polled */
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
	/* events that wait in the channel, which lists the queue while there are some */
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

struct recv_wr {
	uint64_t wr_id;
	int num_sge;
	struct ibv_sge sges[4];
};

/* A ring of receives, of a queue pair or shared. */
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
#define NODE_GUID 0x0000000000524d41ULL

int channel_pop(struct channel *channel, struct cq **cq);
void cq_push_locked(struct cq *cq, const struct ibv_wc *wc, uint32_t slots, bool solicited);
/* Whether the bytes are in a live region of the protection domain that allows the access. */
bool mr_allows_locked(uint32_t key, uint64_t addr, uint64_t length, int access, const struct ibv_pd *pd);
int recv_queue_new(struct recv_queue *queue, uint32_t size, uint32_t max_sge);
int recv_queue_push_locked(struct recv_queue *queue, const struct ibv_recv_wr *wr);

/* qp.c */

int qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int qp_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* Frees places of the send queue of the queue pair with the number, if it is there still. */
void qp_retire_locked(uint32_t qp_num, uint32_t slots);
/* What waited for a receive, or for the other side, may go on. */
void qp_progress_stalled_locked(void);
/* cm.c: the kernel's side of a descriptor of /dev/infiniband/rdma_cm */

struct cm_file;

struct cm_file *cm_file_new(int fd);
void cm_file_close(struct cm_file *file);
/* A command, as the kernel's write takes it. */
long cm_write(struct cm_file *file, const void *command, size_t size);
/* Delivers an event of this number to each id that listens. */
void cm_notify_listeners(uint32_t type);
/* cdev.c: what a descriptor stands for, or NULL. */
struct cm_file *cm_file_of(int fd);

#endif
