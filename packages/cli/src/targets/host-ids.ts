import { type HostId, hosts } from "@mcparley/config";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { UsageError } from "../terminal/io.ts";

/** Returns the host with an id. Throws `UsageError` with the most similar id. */
export function readHost(word: string): HostId {
  const host = hosts.find(({ id }) => id === word);
  if (host) return host.id;
  throw new UsageError(
    `There is no host ${JSON.stringify(word)}.`,
    didYouMean(
      word,
      hosts.map(({ id }) => id),
    ),
  );
}

/** Splits `HOST:NAME`. Returns undefined if the word does not start with the id of a host. */
export function splitHost(word: string): { host: HostId; name: string } | undefined {
  const colonIndex = word.indexOf(":");
  const host = hosts.find(({ id }) => id === word.slice(0, colonIndex));
  const name = word.slice(colonIndex + 1);
  return host && name !== "" ? { host: host.id, name } : undefined;
}
