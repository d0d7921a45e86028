// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

import io.rpma.internal.Loader;
import io.rpma.internal.Natives;

/**
 * The status of an operation: {@code enum ibv_wc_status}.
 *
 * <p>Any status other than {@link #SUCCESS} means that the connection is broken. Later operations end with
 * {@link #WR_FLUSH_ERR}. Close the connection and make a new one.
 *
 * <p>Manual page: ibv_poll_cq(3).
 */
public enum RpmaWcStatus {
    /** The operation succeeded. */
    SUCCESS,
    /** A received message is longer than its buffer, or a posted length exceeds the limit of the port. */
    LOC_LEN_ERR,
    /** The queue pair can't execute the operation. On soft-RoCE also: a received message is longer than its buffer. */
    LOC_QP_OP_ERR,
    /** Not used with reliable connections. */
    LOC_EEC_OP_ERR,
    /** The local memory is not registered for the operation, or its region is closed. */
    LOC_PROT_ERR,
    /** The operation was outstanding when the connection broke or was disconnected, or was posted afterwards. */
    WR_FLUSH_ERR,
    /** A memory window could not be bound. */
    MW_BIND_ERR,
    /** The other side's answer is invalid. */
    BAD_RESP_ERR,
    /** The other side's operation is not allowed on the local memory. */
    LOC_ACCESS_ERR,
    /** The other side refused the request as invalid, for example because a message is longer than its buffer. */
    REM_INV_REQ_ERR,
    /** The other side's memory is not registered for the operation, or its region is closed. */
    REM_ACCESS_ERR,
    /** The other side can't execute the operation. On soft-RoCE also: a message is longer than its buffer. */
    REM_OP_ERR,
    /** The other side did not answer: its host, or the network, is down. */
    RETRY_EXC_ERR,
    /** The other side had no receive posted for too long. In {@code io.rpma}, a message waits without limit instead. */
    RNR_RETRY_EXC_ERR,
    /** Not used with reliable connections. */
    LOC_RDD_VIOL_ERR,
    /** Not used with reliable connections. */
    REM_INV_RD_REQ_ERR,
    /** The other side aborted the operation. */
    REM_ABORT_ERR,
    /** Not used with reliable connections. */
    INV_EECN_ERR,
    /** Not used with reliable connections. */
    INV_EEC_STATE_ERR,
    /** The device failed. */
    FATAL_ERR,
    /** The answer timed out. */
    RESP_TIMEOUT_ERR,
    /** Another error. */
    GENERAL_ERR,
    /** Tag matching failed. */
    TM_ERR,
    /** The software must finish a tag matching rendezvous. */
    TM_RNDV_INCOMPLETE,
    /** A status that this version of the library does not know. */
    UNKNOWN;

    private static final RpmaWcStatus[] VALUES = values();

    /**
     * {@return the text of libibverbs for the status}
     *
     * @throws UnsatisfiedLinkError if the native library can't be loaded
     */
    public String description() {
        Loader.ensureLoaded();
        return Natives.wcStatusMessage(ordinal());
    }

    static RpmaWcStatus of(int value) {
        return value >= 0 && value < UNKNOWN.ordinal() ? VALUES[value] : UNKNOWN;
    }
}
