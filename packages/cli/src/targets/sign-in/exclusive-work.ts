/** Milliseconds for which the end of a command waits for the responses of authorization servers. */
const lastResponseLimit = 5_000;

/** The work of this process that uses credentials exclusively, such as a renewal of tokens. */
export const exclusiveWork = new Set<Promise<unknown>>();

/**
 * Resolves when this process uses no credentials exclusively, or after 5 seconds. A process that ends before loses the only valid
 * refresh token.
 */
export async function credentialsReleased(): Promise<void> {
  if (exclusiveWork.size === 0) return;
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, lastResponseLimit)));
  await Promise.race([Promise.allSettled(exclusiveWork), limit]);
  clearTimeout(timer);
}
