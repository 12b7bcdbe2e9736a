// @ts-check

/*
 * Loaded into the process of a server before its program. Reports the resource usage of the process when the parent process
 * requests it. Does not keep the process alive.
 */

/** @type {Record<string, () => unknown>} */
const answers = {
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  heap: () => {
    // Collects twice, because memory that finalizers release is free after the next collection.
    globalThis.gc?.();
    globalThis.gc?.();
    const { heapUsed, rss, external, arrayBuffers } = process.memoryUsage();
    return { heapUsed, rss, external, arrayBuffers };
  },
  resources: () => {
    /** @type {Record<string, number>} */
    const counts = {};
    for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  },
};

process.on("message", (question) => {
  const answer = typeof question === "string" ? answers[question] : undefined;
  if (answer) process.send?.({ answer: answer() });
});
process.on("disconnect", () => process.exit());
process.channel?.unref();
