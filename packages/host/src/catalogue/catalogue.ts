import type { Prompt, Resource, ResourceTemplate, Tool } from "mcparley/client";
import type { JsonObject } from "mcparley";

/** The lists of one server, as the server sent them. */
export interface ServerLists {
  /** The tools. */
  readonly tools: readonly Tool[];
  /** The prompts. */
  readonly prompts: readonly Prompt[];
  /** The resources. */
  readonly resources: readonly Resource[];
  /** The resource templates. */
  readonly templates: readonly ResourceTemplate[];
  /** The time at which the server sent them, in milliseconds since 1970. */
  readonly listedAt: number;
  /** Whether they come from the cache of an earlier connection. */
  readonly isCached: boolean;
}

/** A tool of a host's catalogue. */
export interface CatalogueTool {
  /** The name for the model: unique in the host, stable, and accepted by all large model providers. */
  readonly name: string;
  /** The server that offers it. */
  readonly server: string;
  /** The definition, as the server sent it. */
  readonly tool: Tool;
  /** The description for the model, labelled with its server. */
  readonly description: string;
  /** The input schema, adapted to the model provider. */
  readonly inputSchema: JsonObject;
}

/** A prompt of a host's catalogue. */
export interface CataloguePrompt {
  /** `server:prompt`, unique in the host. */
  readonly name: string;
  /** The server that offers it. */
  readonly server: string;
  /** The definition, as the server sent it. */
  readonly prompt: Prompt;
}

/** A resource of a host's catalogue. Its URI is unique only within its server. */
export interface CatalogueResource {
  /** The server that offers it. */
  readonly server: string;
  /** The definition, as the server sent it. */
  readonly resource: Resource;
}

/** A resource template of a host's catalogue. */
export interface CatalogueTemplate {
  /** The server that offers it. */
  readonly server: string;
  /** The definition, as the server sent it. */
  readonly template: ResourceTemplate;
}

/** The tools, prompts, resources and templates of all servers of a host. It is not changed: each change makes a new one. */
export interface Catalogue {
  /** In a stable order: a tool keeps its place as long as it exists, and new ones follow. */
  readonly tools: readonly CatalogueTool[];
  /** The prompts, in a stable order. */
  readonly prompts: readonly CataloguePrompt[];
  /** The resources, in a stable order. */
  readonly resources: readonly CatalogueResource[];
  /** The resource templates, in a stable order. */
  readonly templates: readonly CatalogueTemplate[];
  /** Returns the tool with this name for the model. */
  tool(this: void, name: string): CatalogueTool | undefined;
  /** Returns the prompt with this name, `server:prompt`. */
  prompt(this: void, name: string): CataloguePrompt | undefined;
}

/**
 * The entries that changed: tools by their names for the model, prompts by `server:prompt`, resources by their URIs and templates
 * by their URI templates.
 */
export interface CatalogueChange {
  /** The server whose entries changed. */
  readonly server: string;
  /** The names of new entries. */
  readonly added: readonly string[];
  /** The names of entries that no longer exist. */
  readonly removed: readonly string[];
  /** The names of entries with another definition. */
  readonly changed: readonly string[];
}

/** A part of a tool's schema that a model provider does not accept, and that was changed for it. */
export interface SchemaLoss {
  /** The server that offers the tool. */
  readonly server: string;
  /** The name of the tool at its server. */
  readonly tool: string;
  /** JSON pointer of the part in the input schema. */
  readonly path: string;
  /** The keyword, such as `oneOf`. */
  readonly keyword: string;
  /** The change, as a sentence for the author of the tool. */
  readonly change: string;
  /**
   * `looser`: the model may write arguments that the server refuses. `narrower`: some arguments that the server accepts are
   * hidden from the model.
   */
  readonly effect: "looser" | "narrower";
}
