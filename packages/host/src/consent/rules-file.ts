import { type Clock, LocalError } from "mcparley";
import type { StateStorage } from "../state/state-storage.ts";
import { hashOfJson } from "./canonical.ts";
import { isObject } from "@mcparley/internal/is-object";
import { problemOfRule, replacementOf } from "./check-rule.ts";
import type { Rule } from "./policy.ts";

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
  let parsed: { readonly text: string | undefined; readonly rules: readonly Rule[] } = { text: undefined, rules: [] };
  let unreadable: string | undefined;
  /** The last reading, and the time of its start. */
  let reading: { readonly startedAt: number; readonly rules: Promise<readonly Rule[]> } | undefined;

  async function readNow(): Promise<readonly Rule[]> {
    try {
      const text = await storage.read(fileName);
      unreadable = undefined;
      if (text !== parsed.text) parsed = { text, rules: text === undefined ? [] : parseRules(text, onError) };
      return parsed.rules;
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
  await storage.update(fileName, (before) => {
    const rules = before === undefined ? [] : listIn(before);
    const index = rules.findIndex((present) => problemOfRule(present) !== undefined);
    if (index !== -1) throw problemAt(index, problemOfRule(rules[index])!);
    const hash = hashOfJson(rule);
    if (rules.some((present) => hashOfJson(present) === hash)) return before;
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
