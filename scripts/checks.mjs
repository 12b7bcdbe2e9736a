// @ts-check
import { testArguments } from "./failures.mjs";

/** What a check does, and the programs that it runs one after the other. @typedef {{ does: string; programs: string[][] }} Check */

const tsc = "node_modules/typescript/bin/tsc";
const vitest = "node_modules/vitest/vitest.mjs";

/** The suites of the test runner. Their failures are listed at the end of a run. */
export const suites = /** @type {const} */ (["tests", "programs"]);

/** All checks, those of `npm test` first. CONTRIBUTING.md has the same table. @type {Readonly<Record<string, Check>>} */
export const checks = {
  types: {
    does: "Types of the sources, of the sources without Node, and of the tests.",
    programs: [
      [tsc, "-b"],
      [tsc, "-p", "packages/mcparley/tsconfig.web.json"],
      [tsc, "-p", "tsconfig.test.json"],
    ],
  },
  lint: check("Lint rules. Warnings fail.", "node_modules/oxlint/bin/oxlint", "--type-aware", "--deny-warnings"),
  format: check(
    "Fails if a file is not formatted. `npm run format` formats all files.",
    "node_modules/oxfmt/bin/oxfmt",
    "--check",
  ),
  unused: check(
    "Files, exports and dependencies that nothing uses. `--fix` removes some.",
    "node_modules/knip/bin/knip.js",
    "--no-progress",
  ),
  tests: check(
    "The tests that start no programs. `-- PATH` runs those of a file or folder.",
    vitest,
    ...testArguments("tests"),
  ),
  programs: check(
    "The tests that start programs: the command, also in a pseudo-terminal, the examples, published clients, the compiler.",
    vitest,
    ...testArguments("programs"),
  ),
  api: check("The API reports in `packages/*/api`. `--update` writes them.", "scripts/api.mjs"),
  size: check("Bundle sizes, forbidden folders in bundles, import time, installed packages.", "scripts/size.mjs"),
  requirements: check(
    "The requirements of each revision, and the tests that prove them. `--excused` lists those without a proof.",
    "tests/requirements/run.mjs",
  ),
  conformance: check("The official conformance suite.", "tests/conformance/run.mjs"),
  "json-schema-suite": check("The official JSON Schema test suite.", "tests/json-schema/suite/run.mjs"),
  interop: check(
    "Other implementations, in both directions. `--host`, `--sign-in`, `--texts`, `--only NAME`.",
    "tests/interop/run.mjs",
  ),
  runtimes: check(
    "The conversations of `interop` on Node, Bun, Deno, workerd and Chromium. `--only RUNTIME`, `--update`.",
    "tests/interop/runtimes/run.mjs",
  ),
  faults: check(
    "The client under each fault of the network, a proxy or a server, and what it must do. `--update`.",
    "tests/faults/run.mjs",
  ),
  keycloak: check(
    "Sign-ins with Keycloak and `oidc-provider`, and the page `docs/auth/keycloak.md`. `--only NAME`, `--update`.",
    "tests/issuers/run.mjs",
  ),
  keychain: check("The stored credentials with a real keychain of a Linux desktop.", "tests/keychain/run.mjs"),
  cluster: check("Several processes behind nginx, on real servers of Redis and Valkey.", "tests/cluster/run.mjs"),
  typescript: check(
    "Programs of users, compiled with TypeScript 5.4 to 7.0. `--only VERSION`.",
    "tests/types/versions.mjs",
  ),
  "types-cost": check(
    "The time and memory that the compiler needs for servers with many tools.",
    "tests/types/cost.mjs",
  ),
  samples: check(
    "Follows READMEs and guides in empty folders with the packed packages. `--only PAGE`, `--node VERSION`.",
    "tests/samples/run.mjs",
  ),
  create: check(
    "Writes, installs and runs the projects of `create-mcparley`, from the packed packages. `--node VERSION`.",
    "tests/create/run.mjs",
  ),
  recipes: check(
    "The programs of `docs/serve/runtimes.md#commonjs-and-jest`, with Jest and CommonJS.",
    "tests/docs/recipes.mjs",
  ),
  compare: check(
    "Servers and samples of other libraries, and the tables of `docs/start/why-mcparley.md`.",
    "tests/comparison/run.mjs",
  ),
  hosts: check(
    "The commands of `docs/start/add-to-a-host.md` and `@mcparley/config`, with Claude Code, Codex, Gemini CLI and opencode.",
    "tests/hosts/run.mjs",
  ),
  "host-providers": check(
    "The host with models of packages of the AI SDK, on Node 22, against scripted endpoints.",
    "tests/host/providers/run.mjs",
  ),
  frameworks: check(
    "The examples of `docs/serve/frameworks.md`, with ten frameworks and runtimes. `--only NAME`.",
    "tests/frameworks/run.mjs",
  ),
  image: check(
    "Builds the image of `examples/deployed`. Without Docker it runs the steps in folders.",
    "tests/examples/image.mjs",
  ),
  manifests: check(
    "The Dockerfile, the Kubernetes manifest and the systemd unit of `examples/deployed`.",
    "tests/examples/manifests.mjs",
  ),
  picture: check(
    "Draws the pictures of terminals in `docs` from the output of the command.",
    "tests/chat/picture/run.mjs",
  ),
  site: check(
    "Builds the documentation site. `--serve` previews it, `--check` checks links and opens it in Chromium.",
    "site/run.mjs",
  ),
  artifact: check(
    "Packs the packages; checks files, metadata, declarations and size; uses them in projects. `--update`.",
    "scripts/artifact.mjs",
  ),
  workflows: check("Checks `.github/workflows` with `actionlint`.", "tests/release/workflows.mjs"),
};

/** Returns a check with one program. @param {string} does @param {string[]} program @returns {Check} */
function check(does, ...program) {
  return { does, programs: [program] };
}

/** Returns the list that `npm run check` prints. */
export function listing() {
  const width = Math.max(...Object.keys(checks).map((name) => name.length));
  const lines = Object.entries(checks).map(([name, { does }]) => `  ${name.padEnd(width)}  ${does}`);
  return `npm run check -- NAME [NAME ...] [OPTION ...]

Runs checks one after the other, all of them even if one fails. Options are those of the last check; --help lists them.

${lines.join("\n")}
`;
}

/**
 * Returns the named checks with their programs. The words after the names are options of the last check. Throws if a name is unknown.
 *
 * @param {readonly string[]} words
 * @returns {{ name: string; programs: string[][] }[]}
 */
export function planOf(words) {
  const end = words.findIndex((word) => word.startsWith("-"));
  const names = end === -1 ? words : words.slice(0, end);
  const options = end === -1 ? [] : words.slice(words[end] === "--" ? end + 1 : end);
  return names.map((name, index) => {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) throw new Error(unknown(name));
    const own = index === names.length - 1 ? options : [];
    const last = check.programs.at(-1) ?? [];
    return { name, programs: [...check.programs.slice(0, -1), withOptions(last, own)] };
  });
}

/** Adds options to a program. A path replaces the projects of the test runner. @param {readonly string[]} program @param {readonly string[]} options */
function withOptions(program, options) {
  const hasPath = options.some((option) => !option.startsWith("-"));
  const args = program[0] === vitest && hasPath ? program.filter((word) => !word.startsWith("--project=")) : program;
  return [...args, ...options];
}

/** @param {string} name */
function unknown(name) {
  const nearest = Object.keys(checks).toSorted((a, b) => distance(name, a) - distance(name, b));
  return `There is no check "${name}". Did you mean ${nearest.slice(0, 3).join(", ")}? npm run check lists all.`;
}

/** Returns the number of characters to insert, delete or replace, to make one word of another. @param {string} from @param {string} to */
function distance(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let line = 0; line < from.length; line++) {
    const next = [line + 1];
    for (let index = 0; index < to.length; index++) {
      const replaced = (row[index] ?? 0) + (from[line] === to[index] ? 0 : 1);
      next.push(Math.min(replaced, (next[index] ?? 0) + 1, (row[index + 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
