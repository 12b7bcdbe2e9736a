import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { planOf } from "../../scripts/checks.mjs";

interface Job {
  permissions?: Record<string, string>;
  strategy?: { matrix: Record<string, string[]> };
  steps: { run?: string; uses?: string }[];
}

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = path.join(root, ".github/workflows");
const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { scripts: object };

/** The commands of a job. An expression such as `matrix.suite` is replaced by each of its values. */
function commandsOf({ steps, strategy }: Job): string[] {
  return steps.flatMap(({ run }) => {
    if (run === undefined) return [];
    const name = /\$\{\{ matrix\.(\w+) \}\}/.exec(run)?.[1];
    const values = name === undefined ? [] : (strategy?.matrix[name] ?? []);
    return name === undefined ? [run] : values.map((value) => run.replace(`\${{ matrix.${name} }}`, value));
  });
}

describe.each(readdirSync(folder))("%s", (file) => {
  const text = readFileSync(path.join(folder, file), "utf8");
  const { permissions, jobs } = load(text) as Workflow;

  test("pins each action to a commit, and names its version", () => {
    const uses = text.split("\n").filter((line) => line.includes("uses:"));
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((line) => !/uses: [\w/.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  test("may write only signatures and scan results, and the site its pages", () => {
    const granted = [permissions, ...Object.values(jobs).map((job) => job.permissions ?? {})].flatMap(Object.entries);
    const written = granted.filter(([, access]) => access !== "read").map(([scope]) => scope);
    const allowed = ["id-token", "security-events", ...(file === "site.yml" ? ["pages"] : [])];
    expect(written.filter((scope) => !allowed.includes(scope))).toEqual([]);
  });

  test("runs only scripts of this project, and installs packages of the system", () => {
    const install = /^sudo apt-get update && sudo apt-get install --yes --no-install-recommends [a-z -]+$/;
    const commands = Object.values(jobs)
      .flatMap(commandsOf)
      .filter((command) => !install.test(command));
    const names = commands.map((command) => /^npm (?:run )?([\w:-]+)/.exec(command)?.[1] ?? command);
    expect(names.filter((name) => !(name in scripts))).toEqual([]);
    for (const command of commands) {
      const [, words] = /^npm run check -- (.*)$/.exec(command) ?? [];
      if (words !== undefined) expect(planOf(words.split(" "))).not.toEqual([]);
    }
  });
});
