import type { HostId, Scope } from "@mcparley/config";
import { readHost } from "../../targets/host-ids.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { UsageError } from "../../terminal/io.ts";

/** Returns the hosts of `--to` or `--from`. Throws `UsageError` if there is none, or if one is unknown. */
export function readHosts(texts: readonly string[], option: string): HostId[] {
  const ids = texts.flatMap((text) => text.split(",")).filter((id) => id !== "");
  if (ids.length === 0) throw new UsageError(`Which host? ${option} is missing.`, `Such as ${option} claude-code`);
  return [...new Set(ids.map(readHost))];
}

const scopes: readonly Scope[] = ["user", "project", "local"];

/** Returns the scope of `--scope`. Throws `UsageError` if it is unknown. */
export function readScope(text: string | undefined): Scope | undefined {
  if (text === undefined) return undefined;
  const scope = scopes.find((one) => one === text);
  if (scope) return scope;
  throw new UsageError(`There is no scope ${JSON.stringify(text)}.`, didYouMean(text, scopes));
}
