import { ToolError, tool } from "mcparley/server";
import { z } from "zod";
import { documentPaths, readDocument, uriOf } from "../lib/documents.ts";

export default tool({
  title: "Summarize a document",
  description:
    "Summarizes a document of the handbook for a given reader, with the model of the client. Requires a client that " +
    "supports sampling.",
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    document: z.string().describe("Path of the document, such as on-call.md or incidents/2026-05-27-search-index.md"),
    reader: z
      .string()
      .max(100)
      .default("a colleague in a hurry")
      .describe("Reader of the summary, such as a new colleague"),
    sentences: z.int().min(1).max(12).default(3).describe("Maximum number of sentences"),
  }),
  call: async ({ document, reader, sentences }, ctx) => {
    const paths = await documentPaths();
    if (!paths.includes(document)) {
      throw new ToolError(`Document "${document}" does not exist. Use one of:\n${paths.join("\n")}`);
    }
    const { content, model } = await ctx.sample({
      systemPrompt: "You summarize internal documents. Add no facts that are not in the document. Keep numbers exact.",
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
    if (summary.trim() === "") throw new ToolError(`The model ${model} returned no text.`);
    return `${summary.trim()}\n\n(${uriOf(document)}, summarized by ${model})`;
  },
});
