// @ts-check
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { connectHost } from "../host/client.mjs";

/** @import { BenchmarkClient, ClientTarget } from "../../types.ts" */

const folder = fileURLToPath(new URL("../../../.tools/benchmarks/host-folder", import.meta.url));
const mode = 0o700;

/** A host with one server, and a file of rules that allows the call. @param {ClientTarget} target @returns {Promise<BenchmarkClient>} */
export function connect(target) {
  // The process is killed when it was measured, so the folder of the last sample is still there.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode });
  const rules = [{ decision: "allow", server: "bench" }];
  writeFileSync(`${folder}/policy.json`, JSON.stringify({ rules }), { mode });
  return connectHost(target, { folder });
}
