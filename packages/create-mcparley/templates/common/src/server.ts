import { createServer, prompt, resource, resourceNotFound, tool, ToolError } from "mcparley/server";
import { z } from "zod";

// Replace this with your own data. All clients of the process share it.
const notes = new Map([["welcome", "This note is a resource. The tool add_note adds others."]]);

const addNote = tool({
  description: "Adds a note. Returns its URI.",
  input: z.object({
    title: z
      .string()
      .regex(/^[\w-]+$/)
      .describe("Letters, digits, - and _"),
    text: z.string().min(1),
  }),
  call: ({ title, text }) => {
    // The model reads the text of a ToolError, and can correct its call.
    if (notes.has(title)) throw new ToolError(`The note "${title}" exists. Choose another title.`);
    notes.set(title, text);
    return `note://${title}`;
  },
});

const note = resource("note://{title}", {
  description: "A note.",
  mimeType: "text/plain",
  list: () => [...notes.keys()].map((title) => `note://${title}`),
  read: ({ title }, ctx) => {
    const text = notes.get(title);
    if (text === undefined) throw resourceNotFound(ctx.uri);
    return text;
  },
});

const summarize = prompt({
  description: "Summarizes a note.",
  arguments: {
    title: { required: true, complete: (typed) => [...notes.keys()].filter((title) => title.startsWith(typed)) },
  },
  get: ({ title }) => `Summarize this note in one sentence:\n\n${notes.get(title) ?? "(The note does not exist.)"}`,
});

export const server = createServer({
  name: "{{name}}",
  version: "0.1.0",
  tools: { add_note: addNote },
  prompts: { summarize },
  resources: { note },
});
