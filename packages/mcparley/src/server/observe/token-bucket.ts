import type { Store } from "../../store/store.ts";

/** The calls that a caller may make now. It fills up with time. */
export interface Bucket {
  tokens: number;
  /** Time of the last count, in milliseconds since the epoch. */
  at: number;
}

export interface BucketSize {
  /** Calls by which the bucket fills up in a second. */
  perSecond: number;
  /** Calls in a full bucket. */
  burst: number;
}

/** Number of tries to change a bucket in the store. A caller that makes others fail so often is over its limit. */
const maxTries = 20;

/** Takes one call from a bucket. Returns 0, or the seconds to wait if the bucket is empty. */
export function takeFrom(bucket: Bucket, now: number, { perSecond, burst }: BucketSize): number {
  // The clock of another machine may be behind.
  const passed = Math.max(0, now - bucket.at);
  bucket.tokens = Math.min(burst, bucket.tokens + (passed / 1000) * perSecond);
  bucket.at = Math.max(now, bucket.at);
  if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond;
  bucket.tokens -= 1;
  return 0;
}

/** Takes one call from a bucket in a store, which several processes share. */
export async function takeShared(store: Store, key: string, when: BucketSize & { now: number }): Promise<number> {
  const { now, ...size } = when;
  const ttl = Math.ceil((size.burst / size.perSecond) * 1000) + 60_000;
  for (let tries = 0; tries < maxTries; tries++) {
    const text = await store.get(key);
    const bucket = text === undefined ? { tokens: size.burst, at: now } : (JSON.parse(text) as Bucket);
    const wait = takeFrom(bucket, now, size);
    if (wait > 0) return wait;
    if (await store.compareAndSet(key, text, JSON.stringify(bucket), { ttl })) return 0;
  }
  return 1 / size.perSecond;
}
