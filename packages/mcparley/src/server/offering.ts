import { LocalError } from "../rpc/errors.ts";
import type { ServerCapabilities } from "../mcp/capabilities.ts";
import type { Answer } from "./core/call.ts";
import { checkRecord } from "./checks/check-definition.ts";
import type { Changes, ListKind } from "./core/changes.ts";
import type {
  Feature,
  Offering,
  PromptEntry,
  ResourceEntry,
  ResourceIndex,
  ServerCore,
  ServerFeature,
  ToolEntry,
} from "./core/server-core.ts";
import type { Prompt, Resource, Tool } from "./core/definition-types.ts";
import { type ListSource, PreparedLists } from "./features/lists.ts";
import type { AnyServerDefinition, CapabilityChoice } from "./core/options.ts";
import { type Entry, PreparedRegistry } from "./core/registry.ts";

/** The tools, prompts and resources of a definition. A feature that is set is offered even while it is empty. */
type OfferingDefinition = Pick<AnyServerDefinition, ListKind | "capabilities">;

/** The implementation of `Offering`. */
export class PreparedOffering implements Offering {
  readonly tools: PreparedRegistry<Tool, ToolEntry> = new PreparedRegistry((entry) => {
    const tool = this.#prepare<Tool, ToolEntry>("tool", entry);
    // A tool that is set later is refused at once, so that the definition before it stays.
    if (this.#isDefined) tool.convert();
    return tool;
  });
  readonly prompts: PreparedRegistry<Prompt, PromptEntry> = new PreparedRegistry((entry) =>
    this.#prepare("prompt", entry),
  );
  readonly resources: PreparedRegistry<Resource, ResourceEntry> = new PreparedRegistry((entry) =>
    this.#prepare("resource", entry),
  );
  readonly answers: Map<string, Answer> = new Map();
  resourceIndex: ResourceIndex | undefined;
  readonly toolList: PreparedLists<ToolEntry>;
  readonly promptList: PreparedLists<PromptEntry>;
  readonly resourceList: PreparedLists<ResourceEntry>;
  readonly templateList: PreparedLists<ResourceEntry>;
  readonly #definition: OfferingDefinition;
  readonly #changes: Changes;
  #suggests: boolean | undefined;
  /** Whether the definitions that were passed to `createServer` are set. */
  #isDefined = false;

  constructor(
    definition: OfferingDefinition,
    { limits, listCache, info, changes }: Pick<ServerCore, "limits" | "listCache" | "info" | "changes">,
  ) {
    this.#definition = definition;
    this.#changes = changes;
    const options = { pageSize: limits.pageSize, cache: listCache, serverInfo: info };
    const list = <E extends Entry<{ scopes?: readonly string[] | undefined }>>(
      source: ListSource<E>,
    ): PreparedLists<E> => new PreparedLists(source, options);
    this.toolList = list({
      member: "tools",
      entries: () => this.tools.entries(),
      show: (tool, { encoder, revision }) => {
        const { extensions = [] } = tool.definition;
        return extensions.reduce((entry, one) => one.list?.(entry, revision) ?? entry, encoder.tool(tool.listed));
      },
    });
    this.promptList = list({
      member: "prompts",
      entries: () => this.prompts.entries(),
      show: (prompt, { encoder }) => encoder.prompt(prompt.listed),
    });
    this.resourceList = list({
      member: "resources",
      entries: () => this.resourceIndex?.single() ?? [],
      show: (resource, { encoder }) => encoder.resource(resource.listed),
    });
    this.templateList = list({
      member: "resourceTemplates",
      entries: () => this.resourceIndex?.templates() ?? [],
      show: ({ listedTemplate }, { encoder }) => encoder.resourceTemplate(listedTemplate!),
    });
    this.#watch("tools", this.tools, [this.toolList]);
    this.#watch("prompts", this.prompts, [this.promptList]);
    this.resources.onChange((entry, previous) => {
      this.resourceIndex ??= entry?.definition["~feature"].makeIndex?.();
      this.resourceIndex?.update(entry, previous);
    });
    this.#watch("resources", this.resources, [this.resourceList, this.templateList]);
    for (const kind of ["tools", "prompts", "resources"] as const) {
      const registry = this[kind] as PreparedRegistry<any, any>;
      const entries = definition[kind];
      checkRecord(kind, entries);
      for (const [name, entry] of Object.entries(entries ?? {})) registry.set(name, entry);
    }
    this.#isDefined = true;
  }

  offers(feature: ServerFeature): boolean {
    switch (feature) {
      case "logging":
        return this.has("logging");
      case "subscriptions":
        return this.offers("resources") && this.has("subscribe");
      case "completions":
        // Whether any prompt argument or template variable has suggestions.
        this.#suggests ??=
          [...this.prompts.entries()].some((entry) => entry.arguments.suggestions.size > 0) ||
          [...this.resources].some(([, definition]) => definition.complete);
        return this.#suggests;
      default:
        return this.#definition[feature] !== undefined || this[feature].size > 0;
    }
  }

  has(capability: keyof CapabilityChoice): boolean {
    return this.#definition.capabilities?.[capability] !== false;
  }

  capabilities(): ServerCapabilities {
    const capabilities: ServerCapabilities = this.has("logging") ? { logging: {} } : {};
    const changes = this.has("listChanged") ? { listChanged: true } : {};
    if (this.offers("tools")) capabilities.tools = changes;
    if (this.offers("prompts")) capabilities.prompts = changes;
    if (this.offers("resources")) {
      capabilities.resources = this.has("subscribe") ? { ...changes, subscribe: true } : changes;
    }
    if (this.offers("completions")) capabilities.completions = {};
    return capabilities;
  }

  #prepare<D extends { kind: string; "~feature": Feature }, E extends Entry<D>>(kind: string, entry: Entry<D>): E {
    const { name, definition } = entry;
    if (definition?.kind !== kind) {
      const why = `"${name}" is not a ${kind}. Create it with ${kind}(...) from mcparley/server.`;
      throw new LocalError("invalid_definition", why);
    }
    const feature = definition["~feature"];
    const preparedEntry = feature.prepare(entry) as E;
    for (const [method, answer] of Object.entries(feature.methods)) this.answers.set(method, answer);
    return preparedEntry;
  }

  #watch(kind: ListKind, registry: PreparedRegistry<any, any>, lists: { clear(): void }[]): void {
    registry.onChange(() => {
      for (const list of lists) list.clear();
      this.#suggests = undefined;
      if (this.has("listChanged")) this.#changes.listChanged(kind);
    });
  }
}
