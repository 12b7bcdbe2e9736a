// @ts-check
import { resultText } from "../../content.mjs";

/** @import { createHost as CreateHost, HostOptions } from "@mcparley/host" */
/** @import { BenchmarkClient, ClientTarget } from "../../types.ts" */

const built = new URL("../../../packages/host/dist/index.js", import.meta.url).href;

/** A host with one server, and a rule of its options that allows the call. @param {ClientTarget} target @returns {Promise<BenchmarkClient>} */
export function connect(target) {
  return connectHost(target, { folder: false, policy: { rules: [{ decision: "allow", server: "bench" }] } });
}

/** @param {ClientTarget} target @param {HostOptions} options @returns {Promise<BenchmarkClient>} */
export async function connectHost({ command, args, revision }, { policy, ...options }) {
  /** @type {{ createHost: typeof CreateHost }} */
  const { createHost } = await import(built);
  const host = await createHost({
    servers: { bench: { target: { command, args: [...args] }, revision } },
    policy: { trust: "configured", review: "changes", ...policy },
    ...options,
  });
  const { tools } = await host.ready();
  return {
    async echo(text) {
      const outcome = await host.callTool("bench__echo", { text });
      if (outcome.status !== "result") throw new Error(outcome.message);
      return resultText(outcome.result);
    },
    listTools: () => Promise.resolve(tools.map(({ tool }) => tool)),
  };
}
