import { printable } from "mcparley";
import type { Prompt, Resource, ResourceTemplate, Tool } from "mcparley/client";
import { adaptSchema } from "./adapt-schema.ts";
import { boundedText } from "./adaptation.ts";
import type {
  Catalogue,
  CatalogueChange,
  CataloguePrompt,
  CatalogueResource,
  CatalogueTemplate,
  CatalogueTool,
  SchemaLoss,
  ServerLists,
} from "./catalogue.ts";
import { type EntryChanges, type EntryKind, EntryList } from "./entry-list.ts";
import { isObject } from "@mcparley/internal/is-object";
import { promptName, toolName } from "./names.ts";
import { type ProviderName, rulesOf } from "./providers.ts";

/** Options of `createCatalogue`. */
export interface CatalogueOptions {
  /** The model provider to which schemas are adapted. Default: `common`. */
  readonly provider?: ProviderName | undefined;
  /** Names of the host's own tools, which no tool of a server can have. */
  readonly reservedNames?: ReadonlySet<string> | undefined;
  /** Called after each change, with the new catalogue. */
  readonly onChange?: ((change: CatalogueChange, catalogue: Catalogue) => void) | undefined;
  /** Called with each loss of a new or changed tool. */
  readonly onLoss?: ((loss: SchemaLoss) => void) | undefined;
  /** Called with each definition that is left out, and each list that is over a limit. */
  readonly onError?: ((server: string, error: Error) => void) | undefined;
}

/** The source of the catalogues of a host. */
export interface CatalogueSource {
  /** The newest catalogue. It is the same object until an entry changes. */
  readonly current: Catalogue;
  /**
   * Replaces the lists of a server. `undefined` hides the server's entries: they keep their places for its return. Returns the
   * change, or undefined if nothing changed.
   */
  replace(this: void, server: string, lists: ServerLists | undefined): CatalogueChange | undefined;
  /** Removes the entries of a server that does not return. */
  remove(this: void, server: string): CatalogueChange | undefined;
}

/**
 * Returns an empty catalogue, which `replace` fills.
 *
 * At most 2,000 tools, prompts, resources and templates of each server are used. A definition that cannot be used is left out
 * and reported, and the others are used. Unchanged entries stay the same objects, and unchanged lists the same arrays.
 */
export function createCatalogue(options: CatalogueOptions = {}): CatalogueSource {
  const onError = options.onError ?? (() => {});
  const tools = new EntryList(toolKind(options), onError);
  const prompts = new EntryList(promptKind, onError);
  const resources = new EntryList(resourceKind, onError);
  const templates = new EntryList(templateKind, onError);
  let current = snapshot();

  function snapshot(): Catalogue {
    const [toolsByName, promptsByName] = [tools.byName, prompts.byName];
    return Object.freeze({
      tools: tools.entries,
      prompts: prompts.entries,
      resources: resources.entries,
      templates: templates.entries,
      tool: (name: string) => toolsByName.get(name),
      prompt: (name: string) => promptsByName.get(name),
    });
  }

  function finish(server: string, parts: readonly EntryChanges[]): CatalogueChange | undefined {
    const addedNames = parts.flatMap((part) => part.addedNames);
    const removedNames = parts.flatMap((part) => part.removedNames);
    const changedNames = parts.flatMap((part) => part.changedNames);
    if (addedNames.length + removedNames.length + changedNames.length === 0) return undefined;
    current = snapshot();
    const change: CatalogueChange = { server, added: addedNames, removed: removedNames, changed: changedNames };
    options.onChange?.(change, current);
    return change;
  }

  return {
    get current() {
      return current;
    },
    replace(server, lists) {
      return finish(server, [
        tools.replace(server, lists?.tools),
        prompts.replace(server, lists?.prompts),
        resources.replace(server, lists?.resources),
        templates.replace(server, lists?.templates),
      ]);
    },
    remove(server) {
      return finish(
        server,
        [tools, prompts, resources, templates].map((list) => list.remove(server)),
      );
    },
  };
}

/** Returns a member of a definition that must be text. A cached list can have any JSON. */
function textOf(definition: unknown, member: string): string | undefined {
  const value = isObject(definition) ? definition[member] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

function toolKind({ provider = "common", reservedNames, onLoss }: CatalogueOptions): EntryKind<Tool, CatalogueTool> {
  const { descriptionChars } = rulesOf(provider);
  return {
    kind: "tool",
    isUnique: true,
    keyOf: (tool) => textOf(tool, "name"),
    nameOf: ({ name }) => name,
    definitionOf: ({ tool }) => tool,
    prepare(server, tool) {
      const name = toolName(server, tool.name);
      if (reservedNames?.has(name)) throw new Error(`its name for the model "${name}" is reserved for the host`);
      if (!isObject(tool.inputSchema)) throw new Error("its `inputSchema` is not an object");
      const { schema, losses } = adaptSchema(tool.inputSchema, provider, { server, tool: tool.name });
      for (const loss of losses) onLoss?.(loss);
      const description = describeTool(server, tool, descriptionChars);
      return Object.freeze({ name, server, tool, description, inputSchema: schema });
    },
  };
}

/** Maximum characters of the name of a server in the description of a tool. */
const MAX_LABEL_CHARS = 64;

/** Returns the description for the model: the origin, and the visible text of the server within the limit of the provider. */
function describeTool(server: string, tool: Tool, maxChars: number): string {
  const label = `[MCP server ${JSON.stringify(printable(server).slice(0, MAX_LABEL_CHARS))}]`;
  const text = textOf(tool, "description") ?? textOf(tool, "title");
  return text === undefined ? label : `${label} ${boundedText(text, maxChars - label.length - 1)}`;
}

const promptKind: EntryKind<Prompt, CataloguePrompt> = {
  kind: "prompt",
  isUnique: true,
  keyOf: (prompt) => textOf(prompt, "name"),
  nameOf: ({ name }) => name,
  definitionOf: ({ prompt }) => prompt,
  prepare: (server, prompt) => Object.freeze({ name: promptName(server, prompt.name), server, prompt }),
};

const resourceKind: EntryKind<Resource, CatalogueResource> = {
  kind: "resource",
  isUnique: false,
  keyOf: (resource) => textOf(resource, "uri"),
  nameOf: ({ resource }) => resource.uri,
  definitionOf: ({ resource }) => resource,
  prepare: (server, resource) => Object.freeze({ server, resource }),
};

const templateKind: EntryKind<ResourceTemplate, CatalogueTemplate> = {
  kind: "template",
  isUnique: false,
  keyOf: (template) => textOf(template, "uriTemplate"),
  nameOf: ({ template }) => template.uriTemplate,
  definitionOf: ({ template }) => template,
  prepare: (server, template) => Object.freeze({ server, template }),
};
