import { matchesGlob } from "@mcparley/internal/glob";
import { pointerKeys } from "@mcparley/internal/json-pointer";
import { type JsonObject, type Clock, LocalError } from "mcparley";
import type { ToolAnnotations } from "mcparley/client";
import { isObject } from "@mcparley/internal/is-object";
import { matchesArgument } from "./argument-pattern.ts";
import { canonicalJson, hashOfJson } from "./canonical.ts";
import type { Decision, Rule } from "./policy.ts";
import type { StateStorage } from "../state/state-storage.ts";

/** A call, as rules see it. */
export interface RuleSubject {
  readonly server: string;
  /** The name of the tool at its server. */
  readonly tool: string;
  readonly annotations: ToolAnnotations | undefined;
  readonly arguments: JsonObject;
  /** The hash of the tool's definition. */
  readonly definition: string;
  /** The hash of the server's identity. */
  readonly identity: string | undefined;
}

/** The defaults of annotations in the specification. */
const defaults: ReadonlyMap<string, boolean> = new Map([
  ["readOnlyHint", false],
  ["destructiveHint", true],
  ["idempotentHint", false],
  ["openWorldHint", true],
]);
const precedence: readonly Decision[] = ["deny", "ask", "allow"];

/**
 * Returns the rule that decides on a call, and its decision, or undefined if no rule matches. `deny` has precedence over `ask`,
 * and `ask` over `allow`. The order of the rules makes no difference.
 */
export function matchRules(
  rules: readonly Rule[],
  subject: RuleSubject,
): { decision: Decision; rule: Rule } | undefined {
  const matching = rules.filter((rule) => matches(rule, subject));
  for (const decision of precedence) {
    const rule = matching.find((candidate) => candidate.decision === decision);
    if (rule) return { decision, rule };
  }
  return undefined;
}

function matches(rule: Rule, subject: RuleSubject): boolean {
  return (
    matchesGlob(rule.server ?? "*", subject.server) &&
    matchesGlob(rule.tool ?? "*", subject.tool) &&
    (rule.definition ?? subject.definition) === subject.definition &&
    matchesIdentity(rule, subject) &&
    Object.entries(rule.annotations ?? {}).every(([name, value]) => annotation(subject.annotations, name) === value) &&
    Object.entries(rule.arguments ?? {}).every(([pointer, pattern]) => {
      const text = argumentText(subject.arguments, pointer);
      return text !== undefined && matchesArgument(rule.decision, pattern, text);
    })
  );
}

/** Another server could have the name and the definition to which an answer without an identity was given. */
function matchesIdentity({ decision, definition, identity }: Rule, subject: RuleSubject): boolean {
  const isRequired = identity !== undefined || (decision === "allow" && definition !== undefined);
  return !isRequired || (identity !== undefined && identity === subject.identity);
}

function annotation(annotations: ToolAnnotations | undefined, name: string): unknown {
  return new Map<string, unknown>(Object.entries(annotations ?? {})).get(name) ?? defaults.get(name);
}

/** Returns the text of an argument that patterns match, or undefined if the argument is missing. */
function argumentText(args: JsonObject, pointer: string): string | undefined {
  let value: unknown = args;
  for (const key of pointerKeys(pointer)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : canonicalJson(value);
}

const members: ReadonlyMap<string, (value: unknown) => string | undefined> = new Map([
  ["decision", checkDecision],
  ["server", checkPattern],
  ["tool", checkPattern],
  ["annotations", checkAnnotations],
  ["arguments", checkArguments],
  ["definition", checkHash],
  ["identity", checkHash],
]);

const jsonPointer = /^\/(?:[^~]|~[01])*$/s;

/** Returns the problem of a rule as a clause with its cure, or undefined if the rule is valid. */
export function problemOfRule(rule: unknown): string | undefined {
  if (!isObject(rule)) return `it is ${JSON.stringify(rule) ?? "undefined"}. Use an object with the member "decision"`;
  for (const [name, value] of Object.entries(rule)) {
    const check = members.get(name);
    if (!check)
      return `it has an unknown member ${JSON.stringify(name)}. Remove it. Possible members: ${[...members.keys()].join(", ")}`;
    const problem = check(value);
    if (problem !== undefined) return `its member "${name}" is ${JSON.stringify(value) ?? "undefined"}. ${problem}`;
  }
  return "decision" in rule ? undefined : 'it has no member "decision". Add "allow", "ask" or "deny"';
}

/**
 * Returns the rule to apply instead of an invalid one, or undefined if the invalid one allowed calls.
 *
 * It matches each call that the invalid rule may have been meant for: a member that is not valid matches everything.
 */
function replacementOf(rule: unknown): Rule | undefined {
  const { decision, server, tool } = isObject(rule) ? rule : {};
  if (decision === "allow") return undefined;
  return {
    decision: decision === "ask" ? "ask" : "deny",
    ...(typeof server === "string" && checkPattern(server) === undefined && { server }),
    ...(typeof tool === "string" && checkPattern(tool) === undefined && { tool }),
  };
}

function checkDecision(value: unknown): string | undefined {
  return value === "allow" || value === "ask" || value === "deny" ? undefined : 'Use "allow", "ask" or "deny"';
}

function checkPattern(value: unknown): string | undefined {
  if (typeof value === "string" && value !== "") return undefined;
  return 'Use a name, in which "*" stands for any characters';
}

function checkAnnotations(value: unknown): string | undefined {
  if (isObject(value) && Object.values(value).every((flag) => typeof flag === "boolean")) return undefined;
  return 'Use an object such as { "readOnlyHint": true }';
}

function checkArguments(value: unknown): string | undefined {
  const isValid =
    isObject(value) &&
    Object.entries(value).every(([name, text]) => jsonPointer.test(name) && typeof text === "string");
  return isValid ? undefined : 'Use an object of patterns by JSON pointer, such as { "/path": "/home/ann/*" }';
}

function checkHash(value: unknown): string | undefined {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value)
    ? undefined
    : "Use a SHA-256 of 64 hexadecimal digits";
}

/** The name of the user's rules in the storage. */
const fileName = "policy.json";
const denyAll: readonly Rule[] = [{ decision: "deny" }];

/**
 * Milliseconds for which the rules that were read last are used. A change by another process applies to each call that starts later than
 * this after the change. The file is not watched, because file systems do not report every change.
 */
export const rulesLifetime = 1_000;

/** The user's rules. */
export interface RulesFile {
  /** Returns the rules. They are read at most once in `rulesLifetime`, and parsed again only if the text has changed. */
  read(): Promise<readonly Rule[]>;
  /** Adds a rule, which applies from the next `read` on. Rejects if the present ones are not valid, because they would be overwritten. */
  remember(rule: Rule): Promise<void>;
}

/**
 * Returns the user's rules. A file or rule that is not valid is reported once per change of the file, and it fails closed: calls that
 * it could affect are denied, or asked for if the rule was `ask`.
 */
export function rulesFile(storage: StateStorage, clock: Clock, onError: (error: Error) => void): RulesFile {
  let latest: { readonly text: string | undefined; readonly rules: readonly Rule[] } = { text: undefined, rules: [] };
  let unreadable: string | undefined;
  /** The last reading, and the time of its start. */
  let reading: { readonly startedAt: number; readonly rules: Promise<readonly Rule[]> } | undefined;

  async function readNow(): Promise<readonly Rule[]> {
    try {
      const text = await storage.read(fileName);
      unreadable = undefined;
      if (text !== latest.text) latest = { text, rules: text === undefined ? [] : parseRules(text, onError) };
      return latest.rules;
    } catch (error) {
      const { message } = error as Error;
      if (message !== unreadable) onError(error as Error);
      unreadable = message;
      return denyAll;
    }
  }

  return {
    read() {
      const now = clock.now();
      const age = reading ? now - reading.startedAt : Infinity;
      // The age is negative if the clock was set back.
      if (!reading || age < 0 || age >= rulesLifetime) reading = { startedAt: now, rules: readNow() };
      return reading.rules;
    },
    async remember(rule) {
      await addRule(storage, rule);
      reading = undefined;
    },
  };
}

async function addRule(storage: StateStorage, rule: Rule): Promise<void> {
  const problem = problemOfRule(rule);
  if (problem !== undefined) throw invalid(`The rule cannot be remembered: ${problem}.`);
  await storage.update(fileName, (text) => {
    const rules = text === undefined ? [] : listIn(text);
    const index = rules.findIndex((present) => problemOfRule(present) !== undefined);
    if (index !== -1) throw problemAt(index, problemOfRule(rules[index])!);
    const hash = hashOfJson(rule);
    if (rules.some((present) => hashOfJson(present) === hash)) return text;
    return `${JSON.stringify({ rules: [...rules, rule] }, null, 2)}\n`;
  });
}

function parseRules(text: string, onError: (error: Error) => void): readonly Rule[] {
  let list: readonly unknown[];
  try {
    list = listIn(text);
  } catch (error) {
    onError(error as Error);
    return denyAll;
  }
  return list.flatMap((rule, index) => {
    const problem = problemOfRule(rule);
    if (problem === undefined) return [rule as Rule];
    onError(problemAt(index, problem));
    return replacementOf(rule) ?? [];
  });
}

function listIn(text: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(
      `The file ${fileName} is not JSON: ${(error as Error).message}. Correct it. Until then all calls are denied.`,
    );
  }
  if (isObject(value) && Array.isArray(value.rules) && Object.keys(value).length === 1) return value.rules;
  throw invalid(
    `The file ${fileName} must have the form { "rules": [...] }. Correct it. Until then all calls are denied.`,
  );
}

function problemAt(index: number, problem: string): LocalError {
  const effect = "Until then it denies, or asks for, each call that it could be meant for";
  return invalid(`Rule ${index} of the file ${fileName} is not valid: ${problem}. ${effect}.`);
}

function invalid(message: string): LocalError {
  return new LocalError("unusable_storage", message);
}
