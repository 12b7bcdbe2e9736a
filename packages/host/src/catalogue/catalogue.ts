import type { JsonObject } from "mcparley";
import type { Prompt, Resource, ResourceTemplate, Tool } from "mcparley/client";

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
  readonly server: string;
  readonly prompt: Prompt;
}

/** A resource of a host's catalogue. Its URI is unique only within its server. */
export interface CatalogueResource {
  readonly server: string;
  readonly resource: Resource;
}

/** A resource template of a host's catalogue. */
export interface CatalogueTemplate {
  readonly server: string;
  readonly template: ResourceTemplate;
}

/** The tools, prompts, resources and templates of all servers of a host. It is not changed: each change makes a new one. */
export interface Catalogue {
  /** In a stable order: a tool keeps its place as long as it exists, and new ones follow. */
  readonly tools: readonly CatalogueTool[];
  readonly prompts: readonly CataloguePrompt[];
  readonly resources: readonly CatalogueResource[];
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
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}
