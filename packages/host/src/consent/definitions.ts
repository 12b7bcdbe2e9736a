import type { ServerLists } from "../catalogue/catalogue.ts";
import { hashOfDefinition } from "./canonical.ts";
import type { DefinitionKind } from "../renderer/renderer.ts";

/** A definition with its name, or with its URI. Instructions have an empty name. */
export interface NamedDefinition {
  readonly name: string;
  readonly definition: unknown;
}

/** A definition that a server has now. */
export interface LiveDefinition extends NamedDefinition {
  readonly kind: DefinitionKind;
  readonly hash: string;
}

/** The lists of a server, and its instructions. */
export interface Definitions {
  readonly lists: ServerLists;
  readonly instructions?: string | undefined;
}

/** The hashes of definitions that were calculated. A definition is not changed after it was received. */
const hashes = new WeakMap<object, string>();

/** Returns the hash of a definition, which is calculated once for each object. */
export function liveHash(kind: DefinitionKind, definition: unknown): string {
  if (typeof definition !== "object" || definition === null) return hashOfDefinition(kind, definition);
  const storedHash = hashes.get(definition);
  if (storedHash !== undefined) return storedHash;
  const hash = hashOfDefinition(kind, definition);
  hashes.set(definition, hash);
  return hash;
}

/** Returns the key of a definition within its server. */
export function definitionKey(kind: DefinitionKind, name: string): string {
  return `${kind} ${name}`;
}

/** Returns the definitions of a server by their keys. Of several with one key, the first one is used. */
export function liveDefinitions(
  { lists, instructions }: Definitions,
  onError: (error: Error) => void,
): Map<string, LiveDefinition> {
  const definitions = new Map<string, LiveDefinition>();
  const add = (kind: DefinitionKind, name: string, definition: unknown): void => {
    const key = definitionKey(kind, name);
    try {
      const hash = liveHash(kind, definition);
      const first = definitions.get(key);
      if (!first) definitions.set(key, { kind, name, definition, hash });
      else if (first.hash !== hash) throw new Error("The server has two different definitions with this name.");
    } catch (error) {
      onError(
        new Error(`The ${kind} ${JSON.stringify(name)} is not used: ${(error as Error).message}`, { cause: error }),
      );
    }
  };
  for (const tool of lists.tools) add("tool", tool.name, tool);
  for (const prompt of lists.prompts) add("prompt", prompt.name, prompt);
  for (const resource of lists.resources) add("resource", resource.uri, resource);
  for (const template of lists.templates) add("template", template.uriTemplate, template);
  if (instructions !== undefined) add("instructions", "", instructions);
  return definitions;
}

/** Returns the definitions for which `isUsable` returns true. */
export function usableOnly(
  { lists, instructions }: Definitions,
  isUsable: (kind: DefinitionKind, definition: NamedDefinition) => boolean,
): { lists: ServerLists; instructions: string | undefined } {
  return {
    lists: {
      ...lists,
      tools: lists.tools.filter((tool) => isUsable("tool", { name: tool.name, definition: tool })),
      prompts: lists.prompts.filter((prompt) => isUsable("prompt", { name: prompt.name, definition: prompt })),
      resources: lists.resources.filter((resource) =>
        isUsable("resource", { name: resource.uri, definition: resource }),
      ),
      templates: lists.templates.filter((template) =>
        isUsable("template", { name: template.uriTemplate, definition: template }),
      ),
    },
    instructions:
      instructions !== undefined && isUsable("instructions", { name: "", definition: instructions })
        ? instructions
        : undefined,
  };
}
