import { LocalError } from "mcparley";
import type { ServerChange, ListenFilter } from "mcparley/client";
import { printJson } from "../terminal/screen.ts";
import { untilAborted } from "../terminal/abort.ts";
import type { Command } from "./connection/command.ts";
import { formerYes, serverOptions } from "./connection/options.ts";
import { type Session, chooseTarget, useServer } from "./connection/session.ts";
import { visibleLine } from "../terminal/text.ts";

const watchOptions = { yes: formerYes, ...serverOptions } as const;

export const watchCommand: Command<typeof watchOptions> = {
  usage: "TARGET [URI ...]",
  summary: "print changes as they occur, until Ctrl-C",
  printsLines: true,
  options: watchOptions,
  details: [
    "With URIs, prints changes of these resources; without, changes of the lists of tools, prompts and resources. " +
      'With --json each change is one line: {"at", "kind", "uri"}.',
  ],
  examples: ["mcparley watch handbook", "mcparley watch handbook handbook://resources/on-call.md"],
  async run(words, setting) {
    const { target, argumentWords } = await chooseTarget(words, setting);
    await useServer(target, setting, (session) => watch(argumentWords, session));
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
  await untilAborted(subscription.closed, stop.signal);
  if (!stop.signal.aborted) throw new LocalError("closed", "The server ended the subscription.");
  await subscription.close();
  if (failure) throw failure;
}

/** Returns the lists for which the server declares change notifications. */
function listsThatChange({ client }: Session): ListenFilter {
  const { tools, prompts, resources } = client.server.capabilities;
  return { tools: !!tools?.listChanged, prompts: !!prompts?.listChanged, resources: !!resources?.listChanged };
}

function requireAny(
  { tools, prompts, resources, uris: watchedUris = [] }: ListenFilter,
  uris: readonly string[],
): void {
  if (tools || prompts || resources || watchedUris.length > 0) return;
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
  const time = new Date();
  if (options.json) return printJson({ at: time.toISOString(), ...change }, { screen }, "line");
  const what = change.kind === "updated" ? `updated ${visibleLine(change.uri)}` : `${change.kind} changed`;
  return screen.print(`${time.toTimeString().slice(0, 8)} ${what}\n`);
}
