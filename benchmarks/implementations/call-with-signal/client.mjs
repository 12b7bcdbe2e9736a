// @ts-check
import { connect as connectClient } from "mcparley/client";
import { resultText } from "../../content.mjs";

/** @import { BenchmarkClient, ClientTarget } from "../../types.ts" */

/** Like `call-tool-result`, with a new signal for each call. @param {ClientTarget} target @returns {Promise<BenchmarkClient>} */
export async function connect({ command, args, revision }) {
  const client = await connectClient({ command, args: [...args] }, { revision });
  return {
    echo: async (text) => {
      const { signal } = new AbortController();
      return resultText(await client.callToolResult("echo", { text }, { signal }));
    },
    listTools: () => client.listTools().all(),
  };
}
