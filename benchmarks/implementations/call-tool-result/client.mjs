// @ts-check
import { connect as connectClient } from "mcparley/client";
import { resultText } from "../../content.mjs";

/** @import { BenchmarkClient, ClientTarget } from "../../types.ts" */

/** A client of this library that reads the whole result of a call, as a host does. @param {ClientTarget} target @returns {Promise<BenchmarkClient>} */
export async function connect({ command, args, revision }) {
  const client = await connectClient({ command, args: [...args] }, { revision });
  return {
    echo: async (text) => resultText(await client.callToolResult("echo", { text })),
    listTools: () => client.listTools().all(),
  };
}
