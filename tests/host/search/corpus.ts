import { readFileSync, readdirSync } from "node:fs";
import type { JsonObject } from "mcparley";
import type { CatalogueTool } from "../../../packages/host/src/catalogue/catalogue.ts";

/** A query of `queries.json`. */
export interface Query {
  readonly query: string;
  /** Whether the query is not used to choose weights and synonyms. */
  readonly heldOut: boolean;
  /** The acceptable tools, as `server/tool`. */
  readonly tools: readonly string[];
}

interface CorpusFile {
  readonly server: string;
  readonly tools: readonly { name: string; title?: string; description?: string; inputSchema: JsonObject }[];
}

/** Reads the tools of the published servers as a catalogue. */
export function readCorpus(): CatalogueTool[] {
  const folder = new URL("corpus/", import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return files.toSorted().flatMap((name) => {
    const { server, tools }: CorpusFile = JSON.parse(readFileSync(new URL(name, folder), "utf8"));
    return tools.map((tool) => ({
      name: `${server}__${tool.name}`,
      server,
      tool,
      description: tool.description ?? "",
      inputSchema: tool.inputSchema,
    }));
  });
}

/** Reads the queries. */
export function readQueries(): Query[] {
  return JSON.parse(readFileSync(new URL("queries.json", import.meta.url), "utf8"));
}
