import { randomUUID } from "node:crypto";
import { readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { onAbort, pause, routineEnd, settlesWithin } from "../../rpc/abort.ts";
import type { Clock } from "../../rpc/clock.ts";
import type { Store } from "../../store/store.ts";

/** Milliseconds after which a lease expires if its holder has died, and milliseconds between two renewals. */
const leaseTtl = 15_000;
const renewInterval = 5_000;
/** Milliseconds between two attempts to take a lease. */
const retryInterval = 1_000;

interface LeaseOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Ends the wait for the lease. The work is not aborted with it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs work while no other user of the store, in any process, runs work under the same name. Rejects with the reason of the signal if
 * it is aborted before the work starts.
 *
 * The lease on the name is renewed while the work runs. If a holder on this machine has died, others take its lease at once. Otherwise
 * they wait until it expires, at most 15 seconds. If the machine of a holder sleeps for longer than that, another process can take the
 * lease.
 */
export async function withLease<T>(name: string, work: () => Promise<T>, options: LeaseOptions): Promise<T> {
  const { store } = options;
  const owner = `${randomUUID()} ${process.pid} ${await processSpace()}`;
  await takeLease(name, owner, options);
  const stop = renewLease(name, owner, options);
  try {
    return await work();
  } finally {
    await stop();
    await store.compareAndSet(name, owner, undefined, { ttl: leaseTtl });
    await store.publish(name, "");
  }
}

async function takeLease(name: string, owner: string, { store, clock, signal }: LeaseOptions): Promise<void> {
  signal?.throwIfAborted();
  if (await tryToTake(name, owner, store)) return;
  let wake: (() => void) | undefined;
  const retry = (): void => wake?.();
  const unsubscribe = await store.subscribe(name, retry);
  const stopListening = signal && onAbort(signal, retry);
  try {
    for (;;) {
      // A release during the attempt ends the wait after it.
      const nextRelease = new Promise<void>((resolve) => (wake = resolve));
      signal?.throwIfAborted();
      if (await tryToTake(name, owner, store)) return;
      await settlesWithin(nextRelease, retryInterval, clock);
    }
  } finally {
    stopListening?.();
    await unsubscribe();
  }
}

async function tryToTake(name: string, owner: string, store: Store): Promise<boolean> {
  const holder = await store.get(name);
  if (holder !== undefined && !(await hasEnded(holder))) return false;
  return store.compareAndSet(name, holder, owner, { ttl: leaseTtl });
}

/** Returns whether the process that holds a lease has ended. False for a process whose numbers have no meaning here. */
async function hasEnded(holder: string): Promise<boolean> {
  const [, pid, space] = /^\S+ (\d+) (.+)$/.exec(holder) ?? [];
  if (pid === undefined || space !== (await processSpace())) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** Identifies the processes among which a process number is unique: those of this machine, and on Linux of this container. */
async function processSpace(): Promise<string> {
  const namespace = process.platform === "linux" ? await readlink("/proc/self/ns/pid").catch(() => randomUUID()) : "";
  return JSON.stringify([machineName(), namespace]);
}

function machineName(): string {
  try {
    return hostname();
  } catch {
    // Deno without --allow-sys=hostname. A random name equals no other, so a lease ends only when it expires.
    return randomUUID();
  }
}

/** Renews a lease. The returned function stops this, and settles when no renewal is in flight. */
function renewLease(name: string, owner: string, { store, clock }: LeaseOptions): () => Promise<void> {
  const end = new AbortController();
  const renew = async (): Promise<void> => {
    while (!end.signal.aborted) {
      await pause(clock, renewInterval, end.signal);
      // The next renewal compensates for one that fails.
      await store.compareAndSet(name, owner, owner, { ttl: leaseTtl }).catch(() => {});
    }
  };
  const renewing = renew().catch(() => {});
  return () => {
    end.abort(routineEnd);
    return renewing;
  };
}
