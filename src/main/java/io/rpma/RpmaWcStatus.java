package io.rpma;

import io.rpma.internal.Loader;
import io.rpma.internal.Natives;

/**
 * How an operation ended: {@code enum ibv_wc_status}.
 *
 * <p>Any status but {@link #SUCCESS} means that the connection is broken: everything posted later ends with
 * {@link #WR_FLUSH_ERR}, and the connection has to be closed and made anew.
 *
 * <p>Manual page: ibv_poll_cq(3).
 */
public enum RpmaWcStatus {
    /** It was done. */
    SUCCESS,
    /** A received message is longer than its buffer, or a posted length is beyond the port's limit. */
    LOC_LEN_ERR,
    /** The queue pair could not carry the operation out; on soft-RoCE also that a message is longer than its buffer. */
    LOC_QP_OP_ERR,
    /** Not used with reliable connections. */
    LOC_EEC_OP_ERR,
    /** The local memory is not registered for this, or its region is closed. */
    LOC_PROT_ERR,
    /** The operation was outstanding or posted when the connection broke or was disconnected. */
    WR_FLUSH_ERR,
    /** A memory window could not be bound. */
    MW_BIND_ERR,
    /** The other side's answer made no sense. */
    BAD_RESP_ERR,
    /** The other side's operation was not allowed on the local memory. */
    LOC_ACCESS_ERR,
    /** The other side refused the request as invalid, for example a message longer than its buffer. */
    REM_INV_REQ_ERR,
    /** The other side's memory is not registered for this, or its region is closed. */
    REM_ACCESS_ERR,
    /** The other side could not carry the operation out; soft-RoCE's answer to a message longer than its buffer. */
    REM_OP_ERR,
    /** The other side did not answer: it is gone, or the network is. */
    RETRY_EXC_ERR,
    /** The other side had no receive posted, for too long. */
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
    /** The answer took too long. */
    RESP_TIMEOUT_ERR,
    /** Another error. */
    GENERAL_ERR,
    /** Tag matching failed. */
    TM_ERR,
    /** The software has to finish a tag matching rendezvous. */
    TM_RNDV_INCOMPLETE,
    /** A status that this version does not know. */
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
