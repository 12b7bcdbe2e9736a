/** Calls `onDeath` once when the process that started this one is gone; the function it returns stops watching. */
export function watchParent(onDeath: () => void, intervalMs: number): () => void {
  const parent = process.ppid;
  // Process 1 adopts orphans and never dies; 0 is a parent outside of this container.
  if (parent <= 1) return () => {};
  const timer = setInterval(() => {
    if (process.ppid === parent && isAlive(parent)) return;
    clearInterval(timer);
    onDeath();
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** On Windows an orphan keeps the number of its parent, so that the number alone does not tell. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Calls `onSignal` for the first SIGINT or SIGTERM; a second one has its usual effect. Returns what stops listening. */
export function watchSignals(onSignal: () => void): () => void {
  const stop = (): void => {
    process.off("SIGINT", received);
    process.off("SIGTERM", received);
  };
  const received = (): void => {
    stop();
    onSignal();
  };
  process.on("SIGINT", received);
  process.on("SIGTERM", received);
  return stop;
}

/** Ends the process where something still keeps it alive after `ms` milliseconds; does nothing where nothing does. */
export function exitAfter(ms: number): void {
  const timer = setTimeout(() => {
    const reasons = [...new Set(process.getActiveResourcesInfo())].join(", ");
    const what = `mcparley: the connection ended ${ms} ms ago and something keeps this process alive (${reasons}): exiting.`;
    process.stderr.write(`${what} Close it when serveStdio settles, or set exitTimeout.\n`);
    process.exit();
  }, ms);
  timer.unref();
}
