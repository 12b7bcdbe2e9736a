import { matchesGlob } from "@mcparley/internal/glob";
import { pointerKeys } from "@mcparley/internal/json-pointer";
import type { JsonObject } from "mcparley";
import type { ToolAnnotations } from "mcparley/client";
import { canonicalJson } from "./canonical.ts";
import type { Decision, Rule } from "./policy.ts";

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
/** A path segment `..`, also percent-encoded, and also within the JSON of an array. */
const parentSegment = /(?:^|["/\\]|%2f|%5c)(?:\.|%2e){2}(?:$|["/\\]|%2f|%5c)/i;

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

/** A wildcard of an `allow` rule must not match a path that leaves the folder before the wildcard. */
function matchesArgument(decision: Decision, pattern: string, text: string): boolean {
  if (decision === "allow" && pattern.includes("*") && pattern !== "*" && parentSegment.test(text)) return false;
  return matchesGlob(pattern, text);
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
