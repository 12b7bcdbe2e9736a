import { Declined, createServer, resource, tool } from "mcparley/server";
import { z } from "zod";

const notes: string[] = [];
const archive = { running: 0, copied: 0 };

const add = tool({
  description: "Adds a note.",
  input: z.object({ text: z.string() }),
  call: ({ text }) => {
    notes.push(text);
    server.resources.updated("notes://all");
    return `This is note ${notes.length}.`;
  },
});

const clear = tool({
  description: "Deletes all notes, if the user agrees.",
  call: async (_input, ctx) => {
    try {
      await ctx.elicit({ message: "Delete all notes?", schema: z.object({}) });
    } catch (error) {
      if (error instanceof Declined) return "The notes were kept.";
      throw error;
    }
    notes.length = 0;
    server.resources.updated("notes://all");
    return "All notes were deleted.";
  },
});

const copy = tool({
  description: "Copies the notes to the archive, and reports the progress.",
  input: z.object({ pages: z.number().int().min(1).max(10_000) }),
  call: async ({ pages }, ctx) => {
    archive.running++;
    try {
      for (let page = 1; page <= pages; page++) {
        ctx.progress(page, pages, `Copied page ${page}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
        ctx.signal.throwIfAborted();
      }
      archive.copied++;
      return `Copied ${pages} pages.`;
    } finally {
      archive.running--;
    }
  },
});

const state = tool({
  description: "Returns the number of copies that are running, and of those that are complete.",
  output: z.object({ running: z.number(), copied: z.number() }),
  call: () => ({ ...archive }),
});

const whoami = tool({
  description: "Names the user.",
  call: (_input, { principal }) => `You are ${principal?.subject}.`,
});

const all = resource("notes://all", { title: "All notes", mimeType: "text/plain", read: () => notes.join("\n") });

export const server = createServer({
  name: "notes",
  version: "1.0.0",
  tools: { add, clear, copy, state, whoami },
  resources: { all },
});
