// @ts-check
import { connect as connectClient } from "mcparley/client";
import { memoryPair } from "mcparley/testing";

/** @import { BenchmarkClient, ClientTarget } from "../../types.ts" */

/** @param {ClientTarget} target @returns {Promise<BenchmarkClient>} */
export async function connect(target) {
  const client = await connectClient(targetOf(target), { revision: target.revision });
  return {
    echo: async (text) => String(await client.callTool("echo", { text })),
    listTools: () => client.listTools().all(),
  };
}

/** Returns the target that a client of this library connects to. @param {ClientTarget} target */
export function targetOf(target) {
  if (target.way === "http") return target.url;
  if (target.way === "stdio") return { command: target.command, args: [...target.args] };
  const [ours, theirs] = memoryPair();
  const { answer } = target;
  void theirs.start({
    message(/** @type {any} */ message) {
      if (message.id !== undefined) void theirs.send(/** @type {any} */ (answer(message)));
    },
    malformed() {},
    closed() {},
  });
  return ours;
}
