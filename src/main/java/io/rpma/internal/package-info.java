// SPDX-License-Identifier: BSD-3-Clause
/**
 * The engine of both facades, {@link io.rpma} and {@link io.rpma.rdmacm}: native objects, native methods, errors,
 * loading, log, mappings and waits.
 *
 * <p>The parts, each with the class to read first:
 *
 * <ul>
 *   <li><b>Native objects and handles:</b> {@link io.rpma.internal.Resource}, the life cycle of an object, from its
 *       creation under its parents to its close. C identifies the object by a handle. The table of handles
 *       (native/handle.h) recognises the handle of a closed object. {@link io.rpma.internal.ObjectKind} frees
 *       the objects of one kind. {@code Closing} closes many objects together. {@link io.rpma.internal.LazyCleaner}
 *       starts the thread that reports objects that were dropped without {@code close()}.
 *   <li><b>Natives and results:</b> {@link io.rpma.internal.Natives}, all native methods of the shim.
 *       {@link io.rpma.internal.Result} has the codes that they return.
 *   <li><b>Calls and errors:</b> {@link io.rpma.internal.Call}, which converts the result of a native method to a value
 *       or an exception. {@link io.rpma.internal.Hint} finds the remedy that the exception names.
 *       {@link io.rpma.internal.Errno} returns the text of an error. {@link io.rpma.internal.Check} checks arguments
 *       before a call. {@link io.rpma.internal.Access} creates the exception, which is a class of {@code io.rpma}.
 *   <li><b>Batches:</b> {@link io.rpma.internal.BatchRecords}, the operations that a batch has recorded for C.
 *   <li><b>Loading:</b> {@link io.rpma.internal.Loader}, which finds, unpacks and loads the shim.
 *   <li><b>Log:</b> {@link io.rpma.internal.Log}, which delivers librpma's messages in a thread of its own
 *       ({@link io.rpma.internal.Daemon}).
 *   <li><b>Events for JDK Flight Recorder:</b> {@link io.rpma.internal.FlightEvents}.
 *   <li><b>Mappings:</b> {@link io.rpma.internal.Mapping}, the pages of anonymous memory, files and device DAX.
 *       {@link io.rpma.internal.DaxDevice} reads the size of a device DAX. {@link io.rpma.internal.PersistentMemory}
 *       reports whether a device is persistent.
 *   <li><b>Waits:</b> {@link io.rpma.internal.Waiter}, which waits until the descriptor of an object is readable.
 *       Platform threads block in a native method, which {@link io.rpma.internal.Interruptible} ends. Virtual threads
 *       park ({@link io.rpma.internal.VirtualWaits}). Event loops, and the thread that wakes virtual threads, wait for
 *       many objects ({@code io.rpma.internal.loop}) with a {@link io.rpma.internal.Poller}.
 *       {@link io.rpma.internal.CompletionWait} adds completion queues: it arms them and takes their completions.
 *   <li><b>Ways between packages:</b> {@link io.rpma.internal.Access} and {@link io.rpma.internal.RdmacmAccess}, through
 *       which the engine and the facades reach members of a facade that are not public.
 * </ul>
 *
 * <p>The module does not export this package. The facades promise never to crash the JVM. This package does not,
 * because it takes addresses, descriptors and ranges that only the facades check.
 */
package io.rpma.internal;
