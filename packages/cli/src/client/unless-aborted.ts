/**
 * Settles like the work, or resolves to undefined if the signal is aborted first. The work then goes on, and its error is ignored.
 *
 * The signal keeps nothing of the work afterwards, as it would in a race with one promise for its abort.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  work.catch(() => {});
  const ended = new AbortController();
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true, signal: ended.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    ended.abort();
  }
}
