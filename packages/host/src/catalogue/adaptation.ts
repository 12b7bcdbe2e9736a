import { printable } from "mcparley";
import { uniqueNames } from "../values/map-texts.ts";
import { isObject } from "@mcparley/internal/is-object";
import type { ProviderRules } from "./providers.ts";
import type { SchemaLoss } from "./catalogue.ts";

/** Maximum depth of an adapted schema. */
export const MAX_DEPTH = 32;
/** Maximum members of all schemas that are read, with each inlined reference counted again. */
const MAX_MEMBERS = 20_000;
/** Maximum UTF-16 units of a reference. A longer one leads to no schema. */
const MAX_REFERENCE_CHARS = 4_096;
/** Maximum UTF-16 units of the name of a property in a pointer. The rest is left out, because pointers are repeated in losses. */
const MAX_STEP_CHARS = 256;
/** Maximum losses that are reported for one tool. */
const MAX_LOSSES = 200;

/** The tool whose schema is adapted. */
export interface SchemaOrigin {
  readonly server: string;
  readonly tool: string;
}

/** A place in the input schema. */
export interface Place {
  /** JSON pointer in the schema of the server. */
  readonly pointer: string;
  readonly depth: number;
  /** The targets of the references that lead to this place. */
  readonly open: readonly unknown[];
  /** Whether a looser schema at this place makes the whole schema narrower, as below `not`. */
  readonly isNegated?: boolean;
}

/** The target of a reference. */
export interface Target {
  readonly schema: unknown;
  readonly pointer: string;
}

/** The state of one adaptation: its rules, its budget, its losses and its references. */
export interface Adaptation {
  readonly rules: ProviderRules;
  readonly losses: SchemaLoss[];
  /** Whether references are kept. Otherwise their targets are inlined. */
  readonly keepsReferences: boolean;
  /** Takes members from the budget. Returns false if it is used up. */
  spend(members: number): boolean;
  lose(place: Place, loss: Pick<SchemaLoss, "keyword" | "change" | "effect">): void;
  /** Returns the target of a reference within the document. */
  resolve(reference: unknown): Target | undefined;
  /** Returns the reference to a definition of the adapted schema, which is added if it is new. */
  define(target: Target): string;
  /** The definitions that `define` has added, by name. More can be added while they are read. */
  readonly definitions: ReadonlyMap<string, Target>;
}

/** Returns the place below another one. */
export function below(place: Place, ...steps: readonly (string | number)[]): Place {
  const pointer = steps
    .map((step) => `/${String(step).slice(0, MAX_STEP_CHARS).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
  return { ...place, pointer: place.pointer + pointer, depth: place.depth + 1 };
}

/** Starts an adaptation of a schema. */
export function startAdaptation(root: unknown, rules: ProviderRules, at: SchemaOrigin): Adaptation {
  const losses: SchemaLoss[] = [];
  const targets = new Map<unknown, Target | undefined>();
  const definitions = new Map<string, Target>();
  const names = new Map<unknown, string>();
  const freeName = uniqueNames();
  let membersLeft = MAX_MEMBERS;
  return {
    rules,
    losses,
    keepsReferences: rules.keywords.has("$ref"),
    definitions,
    spend(members) {
      membersLeft -= members;
      return membersLeft >= 0;
    },
    lose(place, loss) {
      const effect = place.isNegated === true ? "narrower" : loss.effect;
      if (losses.length < MAX_LOSSES) losses.push({ ...at, path: place.pointer, ...loss, effect });
    },
    resolve(reference) {
      if (!targets.has(reference)) targets.set(reference, findTarget(root, reference));
      return targets.get(reference);
    },
    define(target) {
      if (target.schema === root) return "#";
      let name = names.get(target.schema);
      if (name === undefined) {
        name = freeName(definitionName(target.pointer));
        names.set(target.schema, name);
        definitions.set(name, target);
      }
      return `#/$defs/${name}`;
    },
  };
}

/** Returns the schema at a reference such as `#/$defs/Item`. A reference to another document is never followed. */
export function findTarget(root: unknown, reference: unknown): Target | undefined {
  if (typeof reference !== "string") return undefined;
  if (reference === "#") return { schema: root, pointer: "" };
  if (!reference.startsWith("#/") || reference.length > MAX_REFERENCE_CHARS) return undefined;
  const pointer = decode(reference.slice(1));
  if (pointer === undefined) return undefined;
  let value = root;
  for (const step of pointer.slice(1).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    const isContainer = isObject(value) || Array.isArray(value);
    if (!isContainer || !Object.hasOwn(Object(value), key)) return undefined;
    value = Reflect.get(Object(value), key);
  }
  // A boolean has no identity, by which recursion could be found.
  return isObject(value) ? { schema: value, pointer } : undefined;
}

function decode(pointer: string): string | undefined {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return undefined;
  }
}

/** Maximum characters of the name of a definition. */
const MAX_DEFINITION_CHARS = 48;

function definitionName(pointer: string): string {
  const last = pointer.slice(pointer.lastIndexOf("/") + 1);
  return last.replaceAll(/[^a-zA-Z0-9_.-]/g, "_").slice(0, MAX_DEFINITION_CHARS) || "definition";
}

/** Returns text of a server for the model: visible, well-formed (providers refuse halves of surrogate pairs), and at most as long as the limit. */
export function boundedText(text: string, maxChars: number): string {
  // A part is enough, because `printable` makes no text shorter, except for CR LF.
  const visible = printable(text.slice(0, maxChars * 2)).toWellFormed();
  return visible.length <= maxChars ? visible : `${visible.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
