import { z } from "zod";
import { fillerDescription, toolNames } from "../content.mjs";
import { settings } from "../settings.mjs";

/** The tools that every peer serves, for each to be registered in its own way. */

const echo = {
  name: "echo",
  description: "Says what it is told.",
  input: z.object({ text: z.string() }),
  call: ({ text }) => text,
};

const add = {
  name: "add",
  description: "Adds two numbers.",
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.object({ sum: z.number() }),
  call: ({ a, b }) => ({ sum: a + b }),
};

const filler = (name, index) => ({
  name,
  description: fillerDescription(index),
  input: z.object({
    query: z.string().describe("What to look for, in plain words."),
    limit: z.number().int().min(1).max(100).optional().describe("How many to give at most."),
    isExact: z.boolean().optional().describe("Whether every word has to be there."),
  }),
  call: ({ query }) => query,
});

export const tools = toolNames(settings.tools).map((name, index) => ({ echo, add })[name] ?? filler(name, index - 2));

/** Returns a tool's value as a result of the protocol. */
export function resultOf(value) {
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

export const promptOf = (text) => ({ messages: [{ role: "user", content: { type: "text", text } }] });

export const contentsOf = (uri, text) => ({ contents: [{ uri, mimeType: "text/plain", text }] });
