// @ts-check
import { connect as connectClient } from "mcparley/client";
import { targetOf } from "../mcparley/client.mjs";

/** @import { BenchmarkClient, ClientTarget } from "../../types.ts" */

/** Like `mcparley`, with one signal for all calls. @param {ClientTarget} target @returns {Promise<BenchmarkClient>} */
export async function connect(target) {
  const client = await connectClient(targetOf(target), { revision: target.revision });
  const { signal } = new AbortController();
  return {
    echo: async (text) => String(await client.callTool("echo", { text }, { signal })),
    listTools: () => client.listTools().all(),
  };
}
