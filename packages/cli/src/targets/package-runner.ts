import { basename } from "node:path";

/** The registry of a package, and the words of a command that name packages. */
export interface RunnerCommand {
  readonly registry: "npm" | "pypi";
  readonly packages: readonly PackageWord[];
  /** An option that is not known here, so that the word of the package is unknown. */
  readonly unknown?: string;
}

/** A word of a command that names a package. */
export interface PackageWord {
  readonly index: number;
  /** The part before the package, such as `--package=`. */
  readonly prefix: string;
  readonly spec: string;
  /** Whether the word is the one that is run, and not the value of an option. */
  readonly isPositional: boolean;
}

interface Runner {
  readonly words: readonly string[];
  readonly registry: "npm" | "pypi";
}

const runners: readonly Runner[] = [
  { words: ["npx"], registry: "npm" },
  { words: ["bunx"], registry: "npm" },
  { words: ["npm", "exec"], registry: "npm" },
  { words: ["pnpm", "dlx"], registry: "npm" },
  { words: ["yarn", "dlx"], registry: "npm" },
  { words: ["uvx"], registry: "pypi" },
  { words: ["uv", "tool", "run"], registry: "pypi" },
  { words: ["pipx", "run"], registry: "pypi" },
];

interface Options {
  /** Options whose value is a package. */
  readonly packages: readonly string[];
  /** Options with another value. */
  readonly values: readonly string[];
  readonly switches: readonly string[];
}

const optionsOf: Readonly<Record<Runner["registry"], Options>> = {
  npm: {
    packages: ["-p", "--package"],
    values: [],
    switches: ["-y", "--yes", "-q", "--quiet", "--silent", "--prefer-online", "--prefer-offline", "--bun", "--"],
  },
  pypi: {
    packages: ["--from", "--spec"],
    values: ["-p", "--python", "--with"],
    switches: ["-q", "--quiet", "-v", "--verbose", "--isolated", "--refresh", "--no-cache", "--offline", "--"],
  },
};

/** Finds the packages that a command runs. Returns undefined if the command is no package runner. References are undefined words. */
export function readRunner(words: readonly (string | undefined)[]): RunnerCommand | undefined {
  // On Windows, runners are scripts that are started by the shell.
  const isShell = /^cmd(?:\.exe)?$/i.test(words[0] ?? "") && words[1]?.toLowerCase() === "/c";
  const start = isShell ? 2 : 0;
  const program = basename(words[start] ?? "").replace(/\.(?:cmd|exe)$/i, "");
  const runner = runners.find(({ words: [first, ...otherWords] }) => {
    return first === program && otherWords.every((word, index) => words[start + 1 + index] === word);
  });
  return runner && readPackages(runner.registry, words, start + runner.words.length);
}

function readPackages(
  registry: Runner["registry"],
  words: readonly (string | undefined)[],
  start: number,
): RunnerCommand {
  const { packages, values, switches } = optionsOf[registry];
  const packageWords: PackageWord[] = [];
  for (let index = start; index < words.length; index++) {
    const word = words[index];
    if (word === undefined) return { registry, packages: packageWords, unknown: "a reference" };
    const [, option = "", value] = /^(-[^=]+)=(.*)$/s.exec(word) ?? [];
    if (packages.includes(word)) {
      index += 1;
      packageWords.push({ index, prefix: "", spec: words[index] ?? "", isPositional: false });
    } else if (packages.includes(option)) {
      packageWords.push({ index, prefix: `${option}=`, spec: value ?? "", isPositional: false });
    } else if (values.includes(word)) index += 1;
    else if (!word.startsWith("-")) {
      // With an option for the package, this word is the name of its program.
      return packageWords.length > 0
        ? { registry, packages: packageWords }
        : { registry, packages: [{ index, prefix: "", spec: word, isPositional: true }] };
    } else if (!switches.includes(word) && value === undefined)
      return { registry, packages: packageWords, unknown: word };
  }
  return { registry, packages: packageWords, ...(packageWords.length === 0 && { unknown: "no package" }) };
}
