import { randomBytes } from "node:crypto";
import { apiKeys } from "mcparley/auth";
import { listen } from "mcparley/node";
import { ToolError, createServer, tool } from "mcparley/server";
import { z } from "zod";

const notes = new Map([["welcome", "This server accepts API keys."]]);

const readNote = tool({
  description: "Returns the text of a note.",
  annotations: { readOnlyHint: true },
  scopes: ["notes:read"],
  input: z.object({ title: z.string() }),
  call: ({ title }) => {
    const text = notes.get(title);
    if (text === undefined)
      throw new ToolError(`Note "${title}" does not exist. Notes: ${[...notes.keys()].join(", ")}.`);
    return text;
  },
});

// Callers without the scope neither see nor call this tool.
const writeNote = tool({
  description: "Writes a note, and replaces the note with the same title.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  scopes: ["notes:write"],
  input: z.object({ title: z.string().min(1).max(100), text: z.string().max(10_000) }),
  call: ({ title, text }, ctx) => {
    notes.set(title, text);
    return `${ctx.principal?.subject} wrote "${title}".`;
  },
});

const server = createServer({
  name: "notes",
  version: "1.0.0",
  tools: { read_note: readNote, write_note: writeNote },
});

const running = await listen(server, {
  port: Number(process.env.PORT ?? 3000),
  auth: apiKeys([
    { key: keyFrom("READER_KEY"), subject: "reader", scopes: ["notes:read"] },
    { key: keyFrom("EDITOR_KEY"), subject: "editor", scopes: ["notes:read", "notes:write"] },
  ]),
});
console.log(`Listening on ${running.url}`);
process.once("SIGTERM", () => void running.close());

/** Returns the key in an environment variable. If the variable is not set, makes a key for this run and prints it. */
function keyFrom(variable: string): string {
  const given = process.env[variable];
  if (given) return given;
  const made = randomBytes(32).toString("base64url");
  console.log(`${variable}=${made}`);
  return made;
}
