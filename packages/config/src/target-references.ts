import type { ServerTarget } from "./model.ts";
import { type Reference, referencesOf } from "./values.ts";

/**
 * Returns the references of a target, for example to show which variables of the environment a server receives.
 *
 * @example
 * ```ts
 * import { referencesIn } from "@mcparley/config";
 *
 * const url = ["https://", { kind: "env" as const, name: "HOST" }, "/mcp"];
 * console.log(referencesIn({ kind: "url", url, transport: "http", headers: new Map() })); // [{ kind: "env", name: "HOST" }]
 * ```
 */
export function referencesIn(target: ServerTarget): readonly Reference[] {
  if (target.kind === "url") return [target.url, ...target.headers.values()].flatMap(referencesOf);
  const { command, args, env, cwd = "", envFile = "" } = target;
  return [command, ...args, ...env.values(), cwd, envFile].flatMap(referencesOf);
}
