import { isObject } from "@mcparley/internal/is-object";
import type { Rule } from "./policy.ts";

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
export function replacementOf(rule: unknown): Rule | undefined {
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
  if (isObject(value) && Object.values(value).every((expected) => typeof expected === "boolean")) return undefined;
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
