// SPDX-License-Identifier: BSD-3-Clause
package io.rpma.examples.keyvalue;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/** The keys and values of a server. After a start, Ratis applies the commands of its log again. */
final class Store extends BaseStateMachine {
    /** Divides the key from the value in a command. */
    private static final char DIVIDER = '\n';

    private final Map<String, String> values = new ConcurrentHashMap<>();

    /** Returns the command that stores a value. The key has no line feed. */
    static Message put(String key, String value) {
        return Message.valueOf(key + DIVIDER + value);
    }

    /** Returns the query of a key. */
    static Message get(String key) {
        return Message.valueOf(key);
    }

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
        LogEntryProto entry = transaction.getLogEntry();
        String command = entry.getStateMachineLogEntry().getLogData().toStringUtf8();
        int divider = command.indexOf(DIVIDER);
        if (divider >= 0) {
            values.put(command.substring(0, divider), command.substring(divider + 1));
        }
        updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
        return CompletableFuture.completedFuture(Message.EMPTY);
    }

    /** Answers a query: with the value, or with an empty message if there is none. */
    @Override
    public CompletableFuture<Message> query(Message request) {
        String value = values.getOrDefault(request.getContent().toStringUtf8(), "");
        return CompletableFuture.completedFuture(Message.valueOf(ByteString.copyFromUtf8(value)));
    }
}
