import { randomUUID } from "node:crypto";
import type { Clock } from "../../rpc/clock.ts";
import type { Store } from "../../store/store.ts";

/** Milliseconds after which a lease is over whose holder has died, and between two renewals of one that lives. */
const leaseTtl = 15_000;
const renewInterval = 5_000;
/** Milliseconds between two looks at whether a holder has died. */
const lookInterval = 1_000;

/**
 * Runs work while nobody else who shares the store runs work under the name, in this process or another.
 *
 * A lease on the name is held and renewed meanwhile. A holder that died is waited for until its lease is over, 15 s at
 * most; one whose machine slept for longer than that may find that another has gone on.
 */
export async function underLease<T>(
  name: string,
  work: () => Promise<T>,
  { store, clock }: { store: Store; clock: Clock },
): Promise<T> {
  const owner = randomUUID();
  await take(name, owner, { store, clock });
  const stop = keep(name, owner, { store, clock });
  try {
    return await work();
  } finally {
    await stop();
    await store.compareAndSet(name, owner, undefined, { ttl: leaseTtl });
    await store.publish(name, "");
  }
}

async function take(name: string, owner: string, { store, clock }: { store: Store; clock: Clock }): Promise<void> {
  const tryToTake = (): Promise<boolean> => store.compareAndSet(name, undefined, owner, { ttl: leaseTtl });
  if (await tryToTake()) return;
  let wake: (() => void) | undefined;
  let isReleased = false;
  const unsubscribe = await store.subscribe(name, () => {
    isReleased = true;
    wake?.();
  });
  try {
    while (!(await tryToTake())) {
      if (!isReleased) await sleep(clock, (resolve) => (wake = resolve));
      isReleased = false;
    }
  } finally {
    await unsubscribe();
  }
}

/** Waits for a while, or until it is woken. */
async function sleep(clock: Clock, onStart: (wake: () => void) => void): Promise<void> {
  let timer: unknown;
  await new Promise<void>((resolve) => {
    timer = clock.setTimeout(resolve, lookInterval);
    onStart(resolve);
  });
  clock.clearTimeout(timer);
}

/** Renews a lease until the function it gives is called, which settles once nothing is under way any more. */
function keep(name: string, owner: string, { store, clock }: { store: Store; clock: Clock }): () => Promise<void> {
  let isOver = false;
  let underWay: Promise<unknown> = Promise.resolve();
  let timer: unknown;
  const again = (): void => {
    timer = clock.setTimeout(() => {
      // One that fails is made good by the next.
      underWay = store.compareAndSet(name, owner, owner, { ttl: leaseTtl }).catch(() => {});
      void underWay.then(() => isOver || again());
    }, renewInterval);
  };
  again();
  return async () => {
    isOver = true;
    clock.clearTimeout(timer);
    await underWay;
  };
}
