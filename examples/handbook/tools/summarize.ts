import { ToolError, tool } from "mcparley/server";
import { z } from "zod";
import { documentPaths, readDocument, uriOf } from "../lib/documents.ts";

export default tool({
  title: "Summarize a document",
  description:
    "Has the client's own model summarize a document of the handbook for a kind of reader. Needs a client that lets " +
    "servers ask its model (sampling).",
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    document: z.string().describe("Its path, such as on-call.md or incidents/2026-05-27-search-index.md"),
    reader: z.string().max(100).default("a colleague in a hurry").describe("Who will read it, such as a new colleague"),
    sentences: z.int().min(1).max(12).default(3).describe("Maximum length"),
  }),
  call: async ({ document, reader, sentences }, ctx) => {
    const paths = await documentPaths();
    if (!paths.includes(document)) {
      throw new ToolError(`There is no document "${document}". There are:\n${paths.join("\n")}`);
    }
    const { content, model } = await ctx.sample({
      systemPrompt:
        "You summarize internal documents. You add nothing that is not in them, and you keep numbers exact.",
      messages: [
        {
          role: "user",
          content: {
            type: "text",
            text: `Summarize this document for ${reader} in at most ${sentences} sentences.\n\n${await readDocument(document)}`,
          },
        },
      ],
      maxTokens: 80 * sentences,
      temperature: 0.2,
      modelPreferences: { speedPriority: 0.7, costPriority: 0.6, intelligencePriority: 0.4 },
    });
    const blocks = Array.isArray(content) ? content : [content];
    const summary = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    if (summary.trim() === "") throw new ToolError(`The model ${model} answered without text.`);
    return `${summary.trim()}\n\n(${uriOf(document)}, summarized by ${model})`;
  },
});
