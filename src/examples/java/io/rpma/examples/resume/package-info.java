/**
 * A client that survives the death of its server.
 *
 * <p>{@link io.rpma.examples.resume.Resume} is the command line program. Read it in this order: {@code CopyLayout} (what is
 * where in the memory), {@code Copier} (how a file gets there, or the rest of it), {@code Client} (a connection that comes
 * and goes), {@code Server}.
 */
package io.rpma.examples.resume;
