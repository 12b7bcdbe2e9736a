import { readFileSync } from "node:fs";
import type { CatalogueTool } from "../../../packages/host/src/catalogue/catalogue.ts";
import { readServers } from "./archive.mjs";

/** A query of `queries.json`. */
export interface Query {
  readonly query: string;
  /** Whether the query is not used to choose weights and synonyms. */
  readonly heldOut: boolean;
  /** The acceptable tools, as `server/tool`. */
  readonly tools: readonly string[];
}

/** Reads the tools of the published servers as a catalogue. */
export function readCorpus(): CatalogueTool[] {
  return readServers().flatMap(({ server, tools }) =>
    tools.map((tool) => ({
      name: `${server}__${tool.name}`,
      server,
      tool,
      description: tool.description ?? "",
      inputSchema: tool.inputSchema,
    })),
  );
}

/** Reads the queries. */
export function readQueries(): Query[] {
  return JSON.parse(readFileSync(new URL("queries.json", import.meta.url), "utf8"));
}
