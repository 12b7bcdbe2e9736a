import { LocalError } from "mcparley";
import type { ListenFilter, ServerChange } from "mcparley/client";
import { withSortedMembers } from "@mcparley/internal/sorted-members";
import { isObject } from "@mcparley/internal/is-object";
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
    "With URIs, prints changes of these resources; without, changes of the lists of tools, prompts and resources, with the names that " +
      "were added, removed and changed. Changes within a quarter of a second are printed once. " +
      'With --json each change is one line: {"at", "kind", "uri"} or {"at", "kind", "added", "removed", "changed"}.',
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
  const changes = new Changes(session, () => void subscription.close());
  const subscription = await client.listen(filter, (change) => changes.add(change), request);
  requireAny(subscription.acknowledged, uris);
  await changes.readLists(subscription.acknowledged);
  // `--timeout` limits the time until the watch is active.
  stop.limit(undefined);
  screen.note(`Watching ${describe(subscription.acknowledged)}. Press Ctrl-C to stop.`);
  await untilAborted(subscription.closed, stop.signal);
  changes.close();
  // The subscription is closed after a change that cannot be printed.
  if (changes.failure !== undefined) throw changes.failure;
  if (!stop.signal.aborted) throw new LocalError("closed", "The server ended the subscription.");
  await subscription.close();
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

/** Milliseconds in which the notifications of one change are collected. */
const collectTime = 250;

type ListKind = Exclude<ServerChange["kind"], "updated">;

/** The names of a list that differ from those of its previous reading. */
interface ListDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** The entries of a list as JSON text, by name or URI. */
type Entries = ReadonlyMap<string, string>;

/** Collects the notifications of a subscription, and prints each change once. */
class Changes {
  /** The error of a change that could not be printed. */
  failure: unknown;
  readonly #session: Session;
  readonly #onFailure: () => void;
  readonly #lists = new Map<ListKind, Entries>();
  /** The cancellations of the changes that are collected, by the list or the URI. */
  readonly #collected = new Map<string, () => void>();
  #printing: Promise<void> = Promise.resolve();

  constructor(session: Session, onFailure: () => void) {
    this.#session = session;
    this.#onFailure = onFailure;
  }

  /** Reads the lists that are watched, to compare them after a change. One that cannot be read is not compared. */
  async readLists({ tools, prompts, resources }: ListenFilter): Promise<void> {
    const kinds = { tools, prompts, resources };
    for (const kind of ["tools", "prompts", "resources"] as const) {
      const entries = kinds[kind] ? await readEntries(kind, this.#session).catch(() => undefined) : undefined;
      if (entries) this.#lists.set(kind, entries);
    }
  }

  add(change: ServerChange): void {
    const key = change.kind === "updated" ? `updated ${change.uri}` : change.kind;
    if (this.#collected.has(key)) return;
    this.#collected.set(key, () => {});
    const cancel = this.#session.io.schedule(collectTime, () => {
      this.#collected.delete(key);
      this.#printing = this.#printing
        .then(() => this.#print(change))
        .catch((error: unknown) => {
          this.failure ??= error;
          this.#onFailure();
        });
    });
    if (this.#collected.has(key)) this.#collected.set(key, cancel);
  }

  /** Cancels the changes that are still collected. */
  close(): void {
    for (const cancel of this.#collected.values()) cancel();
    this.#collected.clear();
  }

  async #print(change: ServerChange): Promise<void> {
    const { options, screen } = this.#session;
    const difference = change.kind === "updated" ? undefined : await this.#differenceOf(change.kind);
    const time = new Date();
    if (options.json) return printJson({ at: time.toISOString(), ...change, ...difference }, { screen }, "line");
    const what = change.kind === "updated" ? `updated ${visibleLine(change.uri)}` : `${change.kind} changed`;
    return screen.print(
      `${time.toTimeString().slice(0, 8)} ${what}${difference ? describeDifference(difference) : ""}\n`,
    );
  }

  /** Reads a list again and compares it. Undefined if it cannot be read: the change is printed without names. */
  async #differenceOf(kind: ListKind): Promise<ListDifference | undefined> {
    const previous = this.#lists.get(kind);
    const current = await readEntries(kind, this.#session).catch((error: Error) => {
      this.#session.screen.noteParagraph(`The list of ${kind} could not be read again: ${error.message}`);
      return undefined;
    });
    if (!current) return undefined;
    this.#lists.set(kind, current);
    if (!previous) return undefined;
    return {
      added: [...current.keys()].filter((name) => !previous.has(name)),
      removed: [...previous.keys()].filter((name) => !current.has(name)),
      changed: [...current].flatMap(([name, text]) =>
        previous.has(name) && previous.get(name) !== text ? [name] : [],
      ),
    };
  }
}

/** Returns the entries of a list. Those of resources include the templates. */
async function readEntries(kind: ListKind, { client, request }: Session): Promise<Entries> {
  if (kind === "tools") return entriesOf(await client.listTools(request).all());
  if (kind === "prompts") return entriesOf(await client.listPrompts(request).all());
  const resources = await client.listResources(request).all();
  // Many servers with resources have no method for templates.
  const templates = await client
    .listResourceTemplates(request)
    .all()
    .catch(() => []);
  return entriesOf([...resources, ...templates]);
}

function entriesOf(entries: readonly ({ name: string } & ({ uri?: string } | { uriTemplate?: string }))[]): Entries {
  return new Map(
    entries.map((entry) => {
      const key = "uri" in entry ? entry.uri : "uriTemplate" in entry ? entry.uriTemplate : undefined;
      return [key ?? entry.name, canonical(entry)];
    }),
  );
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (isObject(member) ? withSortedMembers(member) : member));
}

/** Maximum number of names in a line. */
const maxNames = 20;

function describeDifference({ added, removed, changed }: ListDifference): string {
  const parts = [
    ["added", added],
    ["removed", removed],
    ["changed", changed],
  ] as const;
  const texts = parts.flatMap(([word, names]) => (names.length === 0 ? [] : [`${word} ${listNames(names)}`]));
  return texts.length === 0 ? ": the list is the same" : `: ${texts.join("; ")}`;
}

function listNames(names: readonly string[]): string {
  const shownNames = names.slice(0, maxNames).map(visibleLine).join(", ");
  return names.length > maxNames ? `${shownNames} and ${names.length - maxNames} more` : shownNames;
}
