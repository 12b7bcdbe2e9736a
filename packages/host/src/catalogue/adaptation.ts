import { printable } from "mcparley";
import { uniqueNames } from "../values/map-texts.ts";
import { isObject } from "@mcparley/internal/is-object";
import { pointerKeys, pointerStep } from "@mcparley/internal/json-pointer";
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

/** Returns the place below another one. */
export function placeBelow(place: Place, ...steps: readonly (string | number)[]): Place {
  const pointer = steps.map((step) => pointerStep(String(step).slice(0, MAX_STEP_CHARS))).join("");
  return { ...place, pointer: place.pointer + pointer, depth: place.depth + 1 };
}

/** The state of one adaptation: its rules, its budget, its losses and its references. */
export class Adaptation {
  readonly rules: ProviderRules;
  readonly losses: SchemaLoss[] = [];
  /** The definitions that `define` has added, by name. More can be added while they are read. */
  readonly definitions: Map<string, Target> = new Map();
  readonly #root: unknown;
  readonly #origin: SchemaOrigin;
  readonly #targets = new Map<unknown, Target | undefined>();
  readonly #names = new Map<unknown, string>();
  readonly #freeName = uniqueNames();
  #membersLeft = MAX_MEMBERS;

  constructor(root: unknown, rules: ProviderRules, origin: SchemaOrigin) {
    this.#root = root;
    this.rules = rules;
    this.#origin = origin;
  }

  /** Takes members from the budget. Returns false if it is used up. */
  spend(members: number): boolean {
    this.#membersLeft -= members;
    return this.#membersLeft >= 0;
  }

  /** Reports a change after which the model may write arguments that the server refuses. */
  reportLooser(place: Place, keyword: string, change: string): void {
    this.#report(place, { keyword, change, effect: place.isNegated ? "narrower" : "looser" });
  }

  /** Reports a change that hides arguments from the model. */
  reportNarrower(place: Place, keyword: string, change: string): void {
    this.#report(place, { keyword, change, effect: "narrower" });
  }

  #report({ pointer }: Place, loss: Pick<SchemaLoss, "keyword" | "change" | "effect">): void {
    if (this.losses.length < MAX_LOSSES) this.losses.push({ ...this.#origin, path: pointer, ...loss });
  }

  /** Returns the target of a reference within the document. */
  resolve(reference: unknown): Target | undefined {
    if (!this.#targets.has(reference)) this.#targets.set(reference, findTarget(this.#root, reference));
    return this.#targets.get(reference);
  }

  /** Returns the reference to a definition of the adapted schema, which is added if it is new. */
  define(target: Target): string {
    if (target.schema === this.#root) return "#";
    let name = this.#names.get(target.schema);
    if (name === undefined) {
      name = this.#freeName(definitionName(target.pointer));
      this.#names.set(target.schema, name);
      this.definitions.set(name, target);
    }
    return `#/$defs/${name}`;
  }
}

/** Returns the schema at a reference such as `#/$defs/Item`. A reference to another document is never followed. */
export function findTarget(root: unknown, reference: unknown): Target | undefined {
  if (typeof reference !== "string") return undefined;
  if (reference === "#") return { schema: root, pointer: "" };
  if (!reference.startsWith("#/") || reference.length > MAX_REFERENCE_CHARS) return undefined;
  const pointer = decode(reference.slice(1));
  if (pointer === undefined) return undefined;
  let value = root;
  for (const key of pointerKeys(pointer)) {
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
