import { link, tool, toolResult } from "mcparley/server";
import { z } from "zod";
import { allSections } from "../lib/documents.ts";
import { type Hit, rank } from "../lib/rank.ts";

export default tool({
  title: "Search the handbook",
  description:
    "Returns the passages of the handbook that best match a query, best match first. Each has a snippet and a link to its document.",
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    query: z
      .string()
      .min(1)
      .max(500)
      .meta({ description: "Search terms or a question", examples: ["Who decides in an incident?"] }),
    limit: z.int().min(1).max(20).default(5).describe("Maximum number of passages"),
  }),
  output: z.object({
    hits: z.array(
      z.object({
        document: z.string(),
        heading: z.string(),
        line: z.int(),
        uri: z.string(),
        score: z.number(),
        snippet: z.string(),
      }),
    ),
  }),
  call: async ({ query, limit }) => {
    const hits = rank(query, await allSections(), limit);
    const text =
      hits.length === 0 ? `No passage matches "${query}". Try other search terms.` : hits.map(show).join("\n\n");
    return toolResult({
      content: [{ type: "text", text }, ...linksTo(hits)],
      structuredContent: {
        hits: hits.map(({ section, score, snippet }) => {
          const { title: document, heading, line, uri } = section;
          return { document, heading, line, uri, score, snippet };
        }),
      },
    });
  },
});

function show({ section, snippet }: Hit, index: number): string {
  return `${index + 1}. ${section.title}, "${section.heading}" (${section.path}:${section.line})\n   ${snippet}`;
}

/** Returns one link per document, even if several passages are from the same document. */
function linksTo(hits: readonly Hit[]): ReturnType<typeof link>[] {
  const documents = new Map(hits.map(({ section }) => [section.uri, section]));
  return [...documents.values()].map(({ uri, title, path }) =>
    link(uri, { name: path, title, mimeType: "text/markdown" }),
  );
}
