import { LocalError } from "mcparley";
import type { ServerChange, ListenFilter, Subscription } from "mcparley/client";
import { printJson } from "../terminal/screen.ts";
import type { ClientCommand, Session } from "./connection/session.ts";
import { visibleLine } from "../terminal/text.ts";

export const watchCommand: ClientCommand = {
  usage: "TARGET [URI ...]",
  summary: "print changes as they occur, until Ctrl-C",
  details: [
    "With URIs, prints changes of these resources; without, changes of the lists of tools, prompts and resources. " +
      'With --json each change is one line: {"at", "kind", "uri"}.',
  ],
  examples: ["mcparley watch handbook", "mcparley watch handbook handbook://resources/on-call.md"],
  prepare(words) {
    return (session) => watch(words, session);
  },
};

async function watch(uris: readonly string[], session: Session): Promise<void> {
  const { client, request, screen, stop } = session;
  const filter = uris.length > 0 ? { uris } : listsThatChange(session);
  requireAny(filter, uris);
  let failure: Error | undefined;
  const subscription = await client.listen(
    filter,
    (change) => {
      report(change, session).catch((error: unknown) => {
        failure = error as Error;
        void subscription.close();
      });
    },
    request,
  );
  requireAny(subscription.acknowledged, uris);
  // `--timeout` limits the time until the watch is active.
  stop.limit(undefined);
  screen.note(`Watching ${describe(subscription.acknowledged)}. Press Ctrl-C to stop.`);
  await untilEnd(subscription, request.signal);
  if (failure) throw failure;
}

/** Returns the lists for which the server declares change notifications. */
function listsThatChange({ client }: Session): ListenFilter {
  const { tools, prompts, resources } = client.server.capabilities;
  return { tools: !!tools?.listChanged, prompts: !!prompts?.listChanged, resources: !!resources?.listChanged };
}

function requireAny({ tools, prompts, resources, uris: watched = [] }: ListenFilter, uris: readonly string[]): void {
  if (tools || prompts || resources || watched.length > 0) return;
  const what =
    uris.length > 0 ? "does not notify clients of changed resources" : "does not notify clients of changed lists";
  throw new LocalError("not_capable", `This server ${what}.`);
}

function describe({ tools, prompts, resources, uris = [] }: ListenFilter): string {
  const lists = [tools && "tools", prompts && "prompts", resources && "resources"].filter((name) => name);
  const parts = lists.length > 0 ? [`the lists of ${lists.join(", ")}`] : [];
  return [...parts, ...uris.map(visibleLine)].join(", ");
}

async function report(change: ServerChange, { options, screen }: Session): Promise<void> {
  const at = new Date();
  if (options.json) return printJson({ at: at.toISOString(), ...change }, { screen }, "line");
  const what = change.kind === "updated" ? `updated ${visibleLine(change.uri)}` : `${change.kind} changed`;
  return screen.print(`${at.toTimeString().slice(0, 8)} ${what}\n`);
}

async function untilEnd(subscription: Subscription, signal: AbortSignal | undefined): Promise<void> {
  const aborted = new Promise<"aborted">((resolve) => {
    signal?.addEventListener("abort", () => resolve("aborted"), { once: true });
    if (signal?.aborted) resolve("aborted");
  });
  const how = await Promise.race([aborted, subscription.closed.then(() => "closed" as const)]);
  if (how === "closed" && !signal?.aborted) throw new LocalError("closed", "The server ended the subscription.");
  await subscription.close();
}
