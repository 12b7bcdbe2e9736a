import { ToolError, tool } from "mcparley/server";
import { documentPaths, readDocument, uriOf } from "../lib/documents.ts";

export default tool({
  title: "Summarize a document",
  description:
    "Has the client's own model summarize a document of the handbook for a kind of reader. Needs a client that lets " +
    "servers ask its model (sampling).",
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: {
    type: "object",
    properties: {
      document: { type: "string", description: "Its path, such as on-call.md or incidents/2026-05-27-search-index.md" },
      reader: { type: "string", description: "Who will read it, such as a new colleague", maxLength: 100 },
      sentences: { type: "integer", minimum: 1, maximum: 12, description: "How long; 3 sentences unless given" },
    },
    required: ["document"],
    additionalProperties: false,
  },
  call: async (input, ctx) => {
    const { document, reader = "a colleague in a hurry", sentences = 3 } = input;
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
