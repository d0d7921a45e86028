// SPDX-License-Identifier: BSD-3-Clause
package io.rpma;

/** Every bad argument of every post in a batch, with the same expectations as for the single post. */
class BatchArgumentsIT extends PostArgumentsIT {
    @Override
    boolean call(Post post, Arguments a) {
        RpmaBatch batch = RpmaBatch.create(1);
        return record(batch, post, a) && batch.post() == 1;
    }

    @Override
    String named(Post post, String type) {
        if (post == Post.REQ_RECV) {
            return type;
        }
        return type.equals("RpmaMrLocal") ? "its local region" : "its remote region";
    }

    private boolean record(RpmaBatch batch, Post post, Arguments a) {
        switch (post) {
            case READ:
                return batch.read(a.conn, a.local, a.localOffset, a.remote, a.remoteOffset, a.length, a.flags, 1);
            case WRITE:
                return batch.write(a.conn, a.remote, a.remoteOffset, a.local, a.localOffset, a.length, a.flags, 1);
            case WRITE_WITH_IMM:
                return batch.writeWithImm(
                        a.conn, a.remote, a.remoteOffset, a.local, a.localOffset, a.length, a.flags, 5, 1);
            case WRITE_ATOMIC:
                return batch.writeAtomic(a.conn, a.remote, a.remoteOffset, a.local, a.localOffset, a.flags, 1);
            case ATOMIC_WRITE:
                return batch.atomicWrite(a.conn, a.remote, a.remoteOffset, 7, a.flags, 1);
            case FLUSH:
                return batch.flush(a.conn, a.remote, a.remoteOffset, a.length, RpmaFlushType.VISIBILITY, a.flags, 1);
            case SEND:
                return batch.send(a.conn, a.local, a.localOffset, a.length, a.flags, 1);
            case SEND_WITH_IMM:
                return batch.sendWithImm(a.conn, a.local, a.localOffset, a.length, a.flags, 5, 1);
            case RECV:
                return batch.recv(a.conn, a.local, a.localOffset, a.length, 1);
            case SRQ_RECV:
                return batch.recv(a.queue, a.local, a.localOffset, a.length, 1);
            default:
                // a batch takes no receives for a request
                return super.call(post, a);
        }
    }
}
