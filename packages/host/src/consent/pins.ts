import { parseState, type StateStorage } from "../state/state-storage.ts";
import { canonicalJson, hashOfJson, hashWithoutName } from "./canonical.ts";
import { isObject } from "@mcparley/internal/is-object";
import { type LiveDefinition, definitionKey } from "./definitions.ts";
import { differencesBetween } from "./text/differences.ts";
import { remarksOn } from "./text/remarks.ts";
import type { DefinitionChange, DefinitionKind } from "../renderer/renderer.ts";
import type { Policy } from "./policy.ts";

export type AcceptedBy = "person" | "configuration";

/** An accepted definition. */
interface Pin {
  readonly kind: DefinitionKind;
  readonly name: string;
  /** The hash of the accepted definition. */
  readonly hash: string;
  /** The hash without the name, by which a renamed definition is recognized. */
  readonly hashWithoutName: string;
  /** Who accepted it: a person who saw it, or a policy that accepts a first list unseen. Files of earlier versions do not have it. */
  readonly by?: AcceptedBy;
  /** The accepted definition, from which differences are calculated. Undefined if it is too large to store. */
  readonly definition?: unknown;
}

/** The pins of a server by `definitionKey`. */
export type Pins = ReadonlyMap<string, Pin>;

/** The server that pins belong to: its name in the host, and the hash of its identity. */
export interface PinnedServer {
  readonly server: string;
  readonly identity: string;
}

interface PinsFile extends PinnedServer {
  readonly version: 1;
  readonly pins: readonly Pin[];
}

/** Maximum characters of all stored definitions of a server. Pins over it have only the hash. */
const maxDefinitions = 4 * 1024 * 1024;
/** Maximum pins of definitions that the server does not have any more. */
const maxAbsent = 1_000;

/**
 * Reads the pins of a server. Returns undefined if no definition of the server was ever accepted. With the policy `always`, only pins that
 * a person has accepted are used.
 */
export async function readPins(
  storage: StateStorage,
  server: PinnedServer,
  review: Policy["review"],
): Promise<Pins | undefined> {
  const name = fileName(server);
  const text = await storage.read(name);
  if (text === undefined) return undefined;
  return new Map([...pinsIn(name, text)].filter(([, pin]) => review === "changes" || pin.by === "person"));
}

/** Stores accepted definitions, after those that other processes have stored in the meantime. */
export async function addPins(
  storage: StateStorage,
  server: PinnedServer,
  {
    changes,
    by,
    live,
  }: { changes: readonly DefinitionChange[]; by: AcceptedBy; live: ReadonlyMap<string, LiveDefinition> },
): Promise<void> {
  const name = fileName(server);
  await storage.update(name, (text) => {
    const pins = new Map(text === undefined ? [] : pinsIn(name, text));
    for (const change of changes) {
      const definition = change.current;
      const key = definitionKey(change.kind, change.name);
      // The pin moves to the end, so that the oldest ones are first.
      pins.delete(key);
      pins.set(key, {
        kind: change.kind,
        name: change.name,
        hash: live.get(key)!.hash,
        hashWithoutName: hashWithoutName(change.kind, definition),
        by,
        definition,
      });
    }
    const file: PinsFile = { version: 1, ...server, pins: withinLimits([...pins.values()], live) };
    return `${JSON.stringify(file, null, 1)}\n`;
  });
}

/** Returns the definitions that differ from their pins, in the order of the lists. */
export function changesSince(pins: Pins, live: ReadonlyMap<string, LiveDefinition>): DefinitionChange[] {
  const absent = new Map(
    [...pins].filter(([key]) => !live.has(key)).map(([, pin]) => [`${pin.kind} ${pin.hashWithoutName}`, pin]),
  );
  return [...live].flatMap(([key, { kind, name, definition, hash }]) => {
    const pin = pins.get(key);
    if (pin?.hash === hash) return [];
    const former = pin ?? absent.get(`${kind} ${hashWithoutName(kind, definition)}`);
    const status = pin ? "changed" : former ? "renamed" : "new";
    return {
      kind,
      name,
      status,
      ...(former?.definition !== undefined && { previous: former.definition }),
      current: definition,
      differences: differencesBetween(former?.definition, definition),
      remarks: remarksOn(definition, name),
    } satisfies DefinitionChange;
  });
}

/** The name of the server is a part, so that two entries with one command but different accounts do not replace their pins. */
function fileName(server: PinnedServer): string {
  return `pins/${hashOfJson([server.server, server.identity])}.json`;
}

function pinsIn(name: string, text: string): Pins {
  const { pins } = parseState(name, text, isPinsFile);
  return new Map(pins.map((pin) => [definitionKey(pin.kind, pin.name), pin]));
}

/** Removes the oldest pins of absent definitions, and the definitions beyond the limit. Their hashes stay. */
function withinLimits(pins: readonly Pin[], live: ReadonlyMap<string, LiveDefinition>): Pin[] {
  const isAbsent = ({ kind, name }: Pin): boolean => !live.has(definitionKey(kind, name));
  const newestAbsent = new Set(pins.filter(isAbsent).slice(-maxAbsent));
  let characters = 0;
  return pins
    .filter((pin) => !isAbsent(pin) || newestAbsent.has(pin))
    .map(({ definition, ...pin }) => {
      const size = definition === undefined ? 0 : canonicalJson(definition).length;
      if (definition === undefined || characters + size > maxDefinitions) return pin;
      characters += size;
      return { ...pin, definition };
    });
}

function isPinsFile(value: unknown): value is PinsFile {
  return isObject(value) && value.version === 1 && Array.isArray(value.pins) && value.pins.every(isPin);
}

function isPin(value: unknown): value is Pin {
  const texts = ["kind", "name", "hash", "hashWithoutName"];
  return isObject(value) && texts.every((name) => typeof value[name] === "string");
}
