import type { Store } from "../../store/store.ts";

/** A caller's bucket: so many calls it may make at once, and so many more each second. */
export interface Bucket {
  tokens: number;
  /** When it was counted last, in milliseconds since the epoch. */
  at: number;
}

export interface BucketSize {
  perSecond: number;
  burst: number;
}

/** Where so many others were faster, the caller makes more calls than can be counted. */
const maxTries = 20;

/** Takes one call from a bucket, and gives the seconds to wait where there is none in it. */
export function takeFrom(bucket: Bucket, now: number, { perSecond, burst }: BucketSize): number {
  // The clock of another machine may be behind.
  const passed = Math.max(0, now - bucket.at);
  bucket.tokens = Math.min(burst, bucket.tokens + (passed / 1000) * perSecond);
  bucket.at = Math.max(now, bucket.at);
  if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond;
  bucket.tokens -= 1;
  return 0;
}

/** The same from a bucket in a store, which several processes take from. */
export async function takeShared(store: Store, key: string, now: number, size: BucketSize): Promise<number> {
  const ttl = Math.ceil((size.burst / size.perSecond) * 1000) + 60_000;
  const name = `mcparley:rate:${key}`;
  for (let tries = 0; tries < maxTries; tries++) {
    const text = await store.get(name);
    const bucket = text === undefined ? { tokens: size.burst, at: now } : (JSON.parse(text) as Bucket);
    const wait = takeFrom(bucket, now, size);
    if (wait > 0) return wait;
    if (await store.compareAndSet(name, text, JSON.stringify(bucket), { ttl })) return 0;
  }
  return 1 / size.perSecond;
}
