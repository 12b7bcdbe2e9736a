import { ConfigError, type Position } from "../config-error.ts";
import { type ParsedConfig, SyntaxProblem, isTable } from "../formats/format.ts";
import type { HostRules } from "../hosts/host.ts";
import type { Problem } from "../model.ts";
import { decode, readTrusted } from "./trusted-file.ts";

/** The files of one reading. Each is read and parsed once, so that its problem is reported once. */
export class ConfigFiles {
  readonly problems: Problem[] = [];
  readonly #parsed = new Map<string, ParsedConfig | undefined>();

  /** Returns the content of a file. Returns undefined for a missing file, and for one that has a problem. */
  read(rules: HostRules, file: string, place: ProblemPlace): ParsedConfig | undefined {
    if (!this.#parsed.has(file)) {
      this.#parsed.set(
        file,
        this.try(place, () => readRoot(rules, file)),
      );
    }
    return this.#parsed.get(file);
  }

  /** Runs a function, and adds its `ConfigError` to the problems. */
  try<T>(place: ProblemPlace, run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.problems.push(toProblem(error, place));
      return undefined;
    }
  }
}

/** The file of a problem, and the host and the servers that have it. */
export type ProblemPlace = Pick<Problem, "host" | "scope" | "folder"> & { readonly file: string };

/** Returns the problem of an error. */
export function toProblem({ message, cure, position, file }: ConfigError, place: ProblemPlace): Problem {
  return { message, cure, ...place, file: file ?? place.file, position };
}

/** Reads and parses a file whose root is a table. Returns undefined if there is no such file. */
function readRoot(rules: HostRules, file: string): ParsedConfig | undefined {
  const content = readTrusted(file, rules.limit);
  if (!content) return undefined;
  const config = parseConfig(rules, file, decode(content.bytes, file));
  if (!isTable(config.value)) throw notATable("The file", file, config.positionOf([]));
  return config;
}

export function notATable(subject: string, file: string, position: Position | undefined): ConfigError {
  return new ConfigError("invalid_file", `${subject} must contain an object.`, {
    file,
    position: position ?? { line: 1, column: 1 },
  });
}

/** Parses a file. Throws `ConfigError` with the position. */
export function parseConfig(rules: HostRules, file: string, text: string): ParsedConfig {
  try {
    return rules.format.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    const { position } = error;
    throw new ConfigError("invalid_file", error.message, { file, position, cure: "Correct the file by hand." });
  }
}
