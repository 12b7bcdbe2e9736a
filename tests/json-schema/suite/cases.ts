import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import type { JsonSchema } from "../../../packages/mcparley/src/schema/schema.ts";
import { type Dialect, dialectUri } from "../dialects.ts";
import { type Level, omitsDialect, optionalFiles, optionalFormats } from "./plan.ts";

/** One schema of the suite and the values to validate with it. */
export interface Group {
  dialect: Dialect;
  /** Relative to the dialect's folder: `optional/format/uri.json`. */
  file: string;
  level: Level;
  description: string;
  schema: JsonSchema | boolean;
  tests: readonly { description: string; data: unknown; valid: boolean }[];
}

/** Returns the groups of one dialect, in the order of the files. */
export function readGroups(suite: string, dialect: Dialect): Group[] {
  const folder = path.join(suite, "tests", dialect);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => file.endsWith(".json"));
  return files.toSorted().flatMap((file) => {
    const groups = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Omit<
      Group,
      "dialect" | "file" | "level"
    >[];
    const level = levelOf(file);
    return groups.map(({ description, schema, tests }) => ({
      dialect,
      file,
      level,
      description,
      schema: withDialect(schema, dialect),
      tests,
    }));
  });
}

function levelOf(file: string): Level {
  const [first = "", second = "", third] = file.replace(/\.json$/, "").split("/");
  if (first !== "optional") return "required";
  if (third !== undefined) return optionalFormats[third]?.level ?? "required";
  const entry = optionalFiles[second];
  if (!entry) throw new Error(`tests/json-schema/suite/plan.ts does not list ${file}. Add it to \`optionalFiles\`.`);
  return entry.level;
}

/** Returns the documents of the suite's folder `remotes`, by the URI at which the cases refer to them. */
export function readRemotes(suite: string, dialect: Dialect): Map<string, JsonSchema | boolean> {
  const folder = path.join(suite, "remotes");
  const remotes = new Map<string, JsonSchema | boolean>();
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = name.split(path.sep).join("/");
    if (!file.endsWith(".json")) continue;
    const schema = JSON.parse(readFileSync(path.join(folder, name), "utf8")) as JsonSchema | boolean;
    remotes.set(`http://localhost:1234/${file}`, withDialect(schema, dialect));
  }
  return remotes;
}

/** Returns a copy with `$schema` if the dialect's folder omits it. */
function withDialect(schema: JsonSchema | boolean, dialect: Dialect): JsonSchema | boolean {
  if (!omitsDialect(dialect) || typeof schema === "boolean" || "$schema" in schema) return schema;
  return { $schema: dialectUri[dialect], ...schema };
}
