import { fileURLToPath } from "node:url";
import { connect } from "mcparley/client";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("servers/stdio-server.mjs", import.meta.url));

/** Returns the maximum of the memory that this process has had, in bytes. */
const peak = (): number => Math.max(process.memoryUsage().rss, process.resourceUsage().maxRSS * 1024);

test.each(["text", "endless"])("a line over the limit is not kept in memory: %s", async (behaviour) => {
  await using client = await connect(
    { command: process.execPath, args: [program, behaviour], maxLineBytes: 1_000_000 },
    { revision: "2025-11-25" },
  );
  const before = peak();
  await expect(client.callTool("call", {}, { timeout: { total: 5_000 } })).rejects.toThrow();
  expect(peak() - before).toBeLessThan(80_000_000);
});
