import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));

/** A message of a conversation: `>` from the client, `<` from the server. */
export interface Line {
  from: ">" | "<";
  message: unknown;
}

export interface Transcript {
  /** `2025-06-18/elicitation`. */
  name: string;
  revision: string;
  /** The purpose of the conversation, in one or two sentences. */
  guards: string;
  lines: Line[];
}

/**
 * Reads every transcript: a text file whose first lines start with `#` and state its purpose. Each other line is one message: of the client after `>`, of the server after `<`, in the order of sending.
 */
export function transcripts(): Transcript[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".txt"))
    .toSorted()
    .map((name) => read(name.split(path.sep).join("/")));
}

function read(name: string): Transcript {
  const rows = readFileSync(path.join(folder, name), "utf8")
    .split("\n")
    .filter((row) => row.trim() !== "");
  const comment = rows.filter((row) => row.startsWith("#")).map((row) => row.slice(1).trim());
  const lines = rows
    .filter((row) => !row.startsWith("#"))
    .map((row): Line => {
      const from = row[0];
      if (from !== ">" && from !== "<") throw new Error(`${name}: a line begins with #, > or <: ${row}`);
      return { from, message: JSON.parse(row.slice(1)) as unknown };
    });
  return { name: name.replace(/\.txt$/, ""), revision: name.split("/")[0] ?? "", guards: comment.join(" "), lines };
}

/** Writes a transcript with the current messages of the server. */
export function write({ name, guards, lines }: Transcript): void {
  const rows = lines.map(({ from, message }) => `${from} ${JSON.stringify(message)}`);
  writeFileSync(path.join(folder, `${name}.txt`), `# ${guards}\n\n${rows.join("\n")}\n`);
}

/** Values that differ between runs, by the member that contains them. A transcript has a name instead of the value. */
const variables: Record<string, string> = { requestState: "$state", elicitationId: "$id" };

/** Replaces values that differ between runs with names, and stores the values. */
export function withNames(message: unknown, known: Map<string, unknown>): unknown {
  return mapMembers(message, (key, value) => {
    const name = variables[key];
    if (name === undefined || typeof value !== "string") return value;
    known.set(name, value);
    return name;
  });
}

/** Replaces the names with their values, so that a client can send values that it received. */
export function withoutNames(message: unknown, known: ReadonlyMap<string, unknown>): unknown {
  return mapMembers(message, (_, value) => (typeof value === "string" && known.has(value) ? known.get(value) : value));
}

function mapMembers(value: unknown, map: (key: string, member: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => mapMembers(member, map));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, map(key, mapMembers(member, map))]));
}
