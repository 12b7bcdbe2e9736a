import { LocalError } from "mcparley";
import type { StateStorage } from "../state/state-storage.ts";
import { hashOfJson } from "./canonical.ts";
import { isObject } from "../values/is-object.ts";
import { problemOfRule, replacementOf } from "./check-rule.ts";
import type { Rule } from "./policy.ts";

/** The name of the user's rules in the storage. */
const fileName = "policy.json";
const denyAll: readonly Rule[] = [{ decision: "deny" }];

/** Reads the user's rules for each decision. */
export interface RulesFile {
  /** Returns the rules. Parses them again only if the text has changed. */
  read(): Promise<readonly Rule[]>;
}

/**
 * Returns a reader of the user's rules. A file or rule that is not valid is reported once per change of the file, and it fails
 * closed: calls that it could affect are denied, or asked for if the rule was `ask`.
 */
export function rulesFile(storage: StateStorage, onError: (error: Error) => void): RulesFile {
  let known: { readonly text: string | undefined; readonly rules: readonly Rule[] } = { text: undefined, rules: [] };
  let unreadable: string | undefined;
  return {
    async read() {
      try {
        const text = await storage.read(fileName);
        unreadable = undefined;
        if (text !== known.text) known = { text, rules: text === undefined ? [] : parseRules(text, onError) };
        return known.rules;
      } catch (error) {
        const { message } = error as Error;
        if (message !== unreadable) onError(error as Error);
        unreadable = message;
        return denyAll;
      }
    },
  };
}

/** Adds a rule to the user's rules. Rejects if the present ones are not valid, because they would be overwritten. */
export async function rememberRule(storage: StateStorage, rule: Rule): Promise<void> {
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
  return list.flatMap((given, index) => {
    const problem = problemOfRule(given);
    if (problem === undefined) return [given as Rule];
    onError(problemAt(index, problem));
    return replacementOf(given) ?? [];
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
