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
  /** What the conversation guards, in a sentence or two. */
  guards: string;
  lines: Line[];
}

/**
 * Reads every transcript: a text file with a `#` line or more on what it guards, then one message a line, of the client
 * after `>` and of the server after `<`, in the order in which they are sent.
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

/** Writes a transcript anew, with what the server said this time. */
export function write({ name, guards, lines }: Transcript): void {
  const rows = lines.map(({ from, message }) => `${from} ${JSON.stringify(message)}`);
  writeFileSync(path.join(folder, `${name}.txt`), `# ${guards}\n\n${rows.join("\n")}\n`);
}

/** What differs from one run to the next, by the member that holds it; a transcript has its name in its place. */
const variables: Record<string, string> = { requestState: "$state", elicitationId: "$id" };

/** Puts names in the place of what differs from run to run, and remembers what they stand for. */
export function withNames(message: unknown, known: Map<string, unknown>): unknown {
  return mapMembers(message, (key, value) => {
    const name = variables[key];
    if (name === undefined || typeof value !== "string") return value;
    known.set(name, value);
    return name;
  });
}

/** Puts back what the names stand for, so that a client can send what it was sent. */
export function withoutNames(message: unknown, known: ReadonlyMap<string, unknown>): unknown {
  return mapMembers(message, (_, value) => (typeof value === "string" && known.has(value) ? known.get(value) : value));
}

function mapMembers(value: unknown, map: (key: string, member: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => mapMembers(member, map));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, map(key, mapMembers(member, map))]));
}
