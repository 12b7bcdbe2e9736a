import { fileURLToPath } from "node:url";
import { connect } from "mcparley/client";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("servers/stdio-server.mjs", import.meta.url));

test.each(["text", "endless"])("a line over the limit is not kept in memory: %s", async (behaviour) => {
  await using client = await connect(
    { command: process.execPath, args: [program, behaviour], maxLineBytes: 1_000_000 },
    { revision: "2025-11-25" },
  );
  const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
  await expect(client.callTool("call", {}, { timeout: { total: 5_000 } })).rejects.toThrow();
  const after = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
  expect(after - before).toBeLessThan(50_000_000);
});
