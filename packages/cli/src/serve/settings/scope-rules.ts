import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { ScopeRule } from "./auth-settings.ts";
import { type ServedRoot, partsBelow } from "../files/inside-folder.ts";
import type { Problem } from "../problem.ts";
import { wrong } from "../yaml/yaml-fields.ts";

interface PlacedRule extends ScopeRule {
  /** Where the path leads, every link followed. */
  real: string;
}

/** Says which scopes a thing of the folder needs: those of its file, and of every folder around it. */
export class ScopeRules {
  readonly #rules: readonly PlacedRule[];

  constructor(rules: readonly PlacedRule[]) {
    this.#rules = rules;
  }

  /** What a file needs by its name, such as `tools/file_incident.ts`. */
  of(name: string): string[] {
    return scopesIn(this.#rules.filter(({ path }) => isWithin(name, path)));
  }

  /** What a file needs by its name or by where it really is, so that a link to it opens nothing. */
  ofFile(name: string, real: string): string[] {
    return scopesIn(
      this.#rules.filter((rule) => isWithin(name, rule.path) || partsBelow(rule.real, real) !== undefined),
    );
  }

  /** What anything in a folder needs, together: for what is used as a whole. */
  ofAllIn(folder: string): string[] {
    return scopesIn(this.#rules.filter(({ path }) => isWithin(folder, path) || isWithin(path, folder)));
  }

  /** A problem for each rule that nothing of these names comes under: it protects nothing, and may be misspelt. */
  unused(names: readonly string[]): Problem[] {
    const idle = this.#rules.filter(({ path }) => !names.some((name) => isWithin(name, path)));
    return idle.map(
      ({ path, field }) =>
        wrong(field, `auth.needs names "${path}", where nothing is served`, "Correct the path, or leave the line out.")
          .problem,
    );
  }
}

/** Finds out where the rules of a folder lead. */
export async function scopeRules(
  rules: readonly ScopeRule[],
  folder: string,
  roots: readonly ServedRoot[],
): Promise<ScopeRules> {
  const placed = rules.map(async (rule): Promise<PlacedRule> => {
    const [first, ...rest] = rule.path.split("/");
    const root = roots.find(({ name }) => name === first);
    const path = root ? join(root.real, ...rest) : join(folder, rule.path);
    return { ...rule, real: await realpath(path).catch(() => path) };
  });
  return new ScopeRules(await Promise.all(placed));
}

function isWithin(name: string, path: string): boolean {
  return name === path || name.startsWith(`${path}/`);
}

function scopesIn(rules: readonly ScopeRule[]): string[] {
  return [...new Set(rules.flatMap(({ scopes }) => scopes))];
}
