import type { Implementation, ServerCapabilities } from "../../mcp/capabilities.ts";
import type { Prompt as ListedPrompt, PromptArgument } from "../../mcp/prompts.ts";
import type { CacheHint, Resource as ListedResource, ResourceTemplate } from "../../mcp/resources.ts";
import type { Tool as ListedTool } from "../../mcp/tools.ts";
import type { Awaitable } from "../../rpc/awaitable.ts";
import type { Clock } from "../../rpc/clock.ts";
import type { JsonObject, Prepared } from "../../rpc/messages.ts";
import type { Budget } from "../../schema/budget.ts";
import type { CompiledSchema } from "../../schema/validation/compile-schema.ts";
import type { UriTemplate } from "../../schema/uri-template.ts";
import type { Answer, Call } from "./call.ts";
import type { Changes, ListKind, Listener } from "./changes.ts";
import type { CompletionHandler, Prompt, Resource, Tool } from "./definition-types.ts";
import type { Principal } from "./context.ts";
import type { ExtensionMethod, ServerExtension } from "./extension.ts";
import type { RefusalError, SessionEnd } from "./observer.ts";
import type { AnyServerDefinition, CapabilityChoice, ServerLimits } from "./options.ts";
import type { Entry, PreparedRegistry } from "./registry.ts";

/**
 * A tool, prepared to be listed and called. The first use of `listed`, `input` or `output` converts its schemas, and throws
 * `invalid_definition` if one cannot be converted.
 */
export interface ToolEntry extends Entry<Tool> {
  readonly listed: ListedTool;
  readonly input: CompiledSchema | undefined;
  readonly output: CompiledSchema | undefined;
  readonly isConverted: boolean;
  /** Converts the schemas, if they are not converted yet. */
  convert(): void;
}

/** A prompt, prepared to be listed. */
export interface PromptEntry extends Entry<Prompt> {
  readonly listed: ListedPrompt;
  readonly arguments: PreparedArguments;
}

/** A resource or template, prepared to be listed and read. */
export interface ResourceEntry extends Entry<Resource> {
  readonly listed: ListedResource;
  /** Undefined if the URI is not a template. */
  readonly template: UriTemplate | undefined;
  readonly listedTemplate: ResourceTemplate | undefined;
}

/** The arguments of a prompt, prepared to be listed, completed and read. */
export interface PreparedArguments {
  readonly listed: readonly PromptArgument[];
  readonly suggestions: ReadonlyMap<string, CompletionHandler | readonly string[]>;
  /** Returns the values for the handler. Throws -32602 that names the arguments that are missing or invalid. */
  read(prompt: string, texts: Readonly<Record<string, string>>, limits: Budget): Awaitable<Record<string, unknown>>;
}

/** Finds resources by URI: first those with exactly this URI, then templates in the order in which they were added. */
export interface ResourceIndex {
  /** Applies a change of the registry. `entry` is undefined if it was deleted, `previous` if it is new. */
  update(entry: ResourceEntry | undefined, previous: ResourceEntry | undefined): void;
  single(): Iterable<ResourceEntry>;
  templates(): Iterable<ResourceEntry>;
  /** Whether a template has a `list` function. Then pages cannot be prepared. */
  hasListing(): boolean;
  find(uri: string): { entry: ResourceEntry; variables: Record<string, string | string[]> } | undefined;
  /** Finds the resource of a `ref/resource` in a completion, by the text of its template or by its URI. */
  findReferenced(uri: string): ResourceEntry | undefined;
}

/**
 * Prepares one kind of definition and answers its methods.
 *
 * Each definition refers to its feature, so that the bundle of a server with tools alone contains no code for resources.
 */
export interface Feature<D = any, E extends Entry<D> = any> {
  prepare(this: void, entry: Entry<D>): E;
  readonly methods: Readonly<Record<string, Answer>>;
  /** Makes the index of a server's resources. Only resources have one. */
  makeIndex?(this: void): ResourceIndex;
}

/** A part of the protocol that a server may leave out. Without it, the server lacks its capability and its methods. */
export type ServerFeature = ListKind | "subscriptions" | "completions" | "logging";

/** The caller of a list, with the revision and encoder of the response. */
export type ListCaller = Pick<Call, "revision" | "encoder" | "principal">;

/** The pages of one list. `page` returns the page after a cursor, or the first page. Throws -32602 if the cursor is invalid. */
export type PageList = { page(caller: ListCaller, cursor: string | undefined): Prepared };

/** The tools, prompts and resources of a server: the registries, the pages of their lists, and the index of resources. */
export interface Offering {
  readonly tools: PreparedRegistry<Tool, ToolEntry>;
  readonly prompts: PreparedRegistry<Prompt, PromptEntry>;
  readonly resources: PreparedRegistry<Resource, ResourceEntry>;
  /** The functions that answer the methods of the registered features, by method. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** Undefined until the first resource is added, so that the bundle of a server with tools alone contains no index. */
  readonly resourceIndex: ResourceIndex | undefined;
  readonly toolList: PageList;
  readonly promptList: PageList;
  readonly resourceList: PageList;
  readonly templateList: PageList;
  offers(feature: ServerFeature): boolean;
  /** Whether the server has an optional capability, which its definition can leave out. */
  has(capability: keyof CapabilityChoice): boolean;
}

/** The observers of one server. */
export interface Observers {
  /** Runs a call inside all observers and notifies them exactly once of its end. */
  call<T extends JsonObject | Prepared>(call: Call, answer: () => Awaitable<T>): Promise<T>;
  refused(what: string, principal: Principal | undefined, error: RefusalError): void;
  sessionEnded(end: SessionEnd): void;
  /** Notifies observers of an error. Writes it to the console if neither they nor `onError` receive errors. */
  failed(error: unknown, call: Call | undefined): void;
  warned(text: string): void;
}

/** An open stream of `subscriptions/listen`. */
export interface Stream extends Listener {
  /** Ends the stream with its graceful result. */
  end(): void;
}

/**
 * A prepared server definition. It holds no connection, so any number of connections, sessions and requests share it.
 */
export interface ServerCore {
  readonly definition: AnyServerDefinition;
  readonly info: Implementation;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  /** The time at which the server was created, in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly changes: Changes;
  /** The protocol versions that the server names to clients, the newest first. */
  readonly versions: readonly string[];
  readonly listCache: CacheHint;
  readonly offering: Offering;
  readonly extensions: readonly ServerExtension[];
  /** The methods of all extensions, by name. */
  readonly extensionMethods: ReadonlyMap<string, ExtensionMethod>;
  /** Answers a call by its method, inside the middleware. */
  readonly answerMethod: Answer;
  /** Undefined if the server has no observers. */
  readonly observers: Promise<Observers> | undefined;
  /** Whether the server serves a protocol version. */
  serves(version: string): boolean;
  capabilities(): ServerCapabilities;
  /** Whether the protocol or an extension defines a method that middleware receives. */
  hasMethod(method: string): boolean;
  /** Adds a stream that receives changes. The returned function removes it. */
  openStream(stream: Stream): () => void;
  /** Notifies observers of a request that was rejected before it became a call. */
  refused(what: string, principal: Principal | undefined, why: RefusalError): void;
  /** Notifies observers of a session that ended. */
  sessionEnded(end: SessionEnd): void;
  /** Passes an error that is hidden from the client to `onError` and the observers; to the console if none takes errors. */
  report(error: unknown, call: Call | undefined): void;
  /** Passes a warning about the definition to `onWarning`, or writes it to the console. Does so once for each text. */
  warn(text: string): void;
  /**
   * Throws `LocalError` `invalid_definition` if a module that is loaded on first use has a copy of the library of its own.
   * `tsx` does this in a project without `"type": "module"`: it loads static imports as CommonJS, and dynamic ones as ES
   * modules. Classes then exist twice. `Loaded` is the class `LocalError` of the loaded module.
   */
  requireOneCopy(Loaded: unknown): void;
}
