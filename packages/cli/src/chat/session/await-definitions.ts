import type { Catalogue, HostServer } from "@mcparley/host";
import { type Chat, interruptible } from "./chat.ts";

/** Milliseconds to wait for servers that connect. */
const longestWait = 5_000;

/** Returns what `find` returns from the catalogue. If it finds nothing, it is called again after `untilDefined`. */
export async function findWhenReady<T>(
  chat: Chat,
  find: (catalogue: Catalogue) => T | undefined,
): Promise<T | undefined> {
  const result = find(chat.host.catalogue);
  if (result !== undefined) return result;
  await untilDefined(chat);
  return find(chat.host.catalogue);
}

/** Waits for servers that connect, and for the review of their definitions, at most 5 s. */
export async function untilDefined(chat: Chat): Promise<void> {
  const { host, terminal } = chat;
  if (![...host.servers.values()].some((server) => isArriving(server, host.catalogue))) return;
  terminal.status(["Waiting for the servers (Ctrl-C cancels)"]);
  try {
    await interruptible(chat, (signal) => host.ready({ wait: longestWait, signal }));
  } finally {
    terminal.status([]);
  }
}

/** Whether definitions of a server are expected in the catalogue, which has none of them. */
function isArriving({ name, state }: HostServer, { tools, prompts, resources, templates }: Catalogue): boolean {
  const definitions = [tools, prompts, resources, templates].flat();
  return state === "connecting" || (state === "ready" && !definitions.some(({ server }) => server === name));
}
