import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { ScopeRule } from "./auth-settings.ts";
import { type ServedRoot, partsBelow } from "../files/inside-folder.ts";
import type { Problem } from "../yaml/problem.ts";
import { wrong } from "../yaml/yaml-fields.ts";

interface PlacedRule extends ScopeRule {
  /** The real path, with every link followed. */
  real: string;
}

/** The scope rules of a folder. A file requires the scopes of its own rule and of every folder that contains it. */
export class ScopeRules {
  readonly #rules: readonly PlacedRule[];

  constructor(rules: readonly PlacedRule[]) {
    this.#rules = rules;
  }

  /** Returns the scopes for a file by its name, such as `tools/file_incident.ts`. */
  scopesOf(name: string): string[] {
    return scopesIn(this.#rules.filter(({ path }) => isWithin(name, path)));
  }

  /** Returns the scopes for a file by its name and by its real path, so that a link does not bypass a rule. */
  ofFile(name: string, real: string): string[] {
    return scopesIn(
      this.#rules.filter((rule) => isWithin(name, rule.path) || partsBelow(rule.real, real) !== undefined),
    );
  }

  /** Returns the scopes for everything in a folder together. For content that is used as a whole, such as a skill. */
  ofAllIn(folder: string): string[] {
    return scopesIn(this.#rules.filter(({ path }) => isWithin(folder, path) || isWithin(path, folder)));
  }

  /** Returns a problem for each rule that matches none of these names: it protects nothing and may be misspelled. */
  problemsOfUnused(names: readonly string[]): Problem[] {
    const idle = this.#rules.filter(({ path }) => !names.some((name) => isWithin(name, path)));
    return idle.map(
      ({ path, field }) =>
        wrong(field, `auth.needs names "${path}", where nothing is served`, "Correct the path, or remove the line.")
          .problem,
    );
  }
}

/** Resolves the paths of the rules. */
export async function scopeRules(
  rules: readonly ScopeRule[],
  folder: string,
  roots: readonly ServedRoot[],
): Promise<ScopeRules> {
  const placing = rules.map(async (rule): Promise<PlacedRule> => {
    const [first, ...innerParts] = rule.path.split("/");
    const root = roots.find(({ name }) => name === first);
    const path = root ? join(root.real, ...innerParts) : join(folder, rule.path);
    return { ...rule, real: await realpath(path).catch(() => path) };
  });
  return new ScopeRules(await Promise.all(placing));
}

function isWithin(name: string, path: string): boolean {
  return name === path || name.startsWith(`${path}/`);
}

function scopesIn(rules: readonly ScopeRule[]): string[] {
  return [...new Set(rules.flatMap(({ scopes }) => scopes))];
}
