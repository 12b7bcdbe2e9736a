import { invalidParams } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";
import type { Icon } from "./content.ts";
import { isMetaKey, Method } from "./methods.ts";
import type { CacheHint } from "./resources.ts";

/** The name of a client or a server, as it describes itself. Not verified: display it, but do not trust it. */
export interface Implementation {
  /** Name for programs. It should not change between versions. */
  name: string;
  /** Version of the implementation. */
  version: string;
  /** Name for people. Default: `name`. */
  title?: string;
  /** Purpose, in one or two sentences for people. */
  description?: string;
  /** URL of a page about the implementation. */
  websiteUrl?: string;
  /** Icons to show for it. A client chooses one by size and theme. */
  icons?: readonly Icon[];
}

/** The capabilities that a client declares. */
export interface ClientCapabilities {
  /** Set if the client shares its roots. `listChanged`: it notifies of changes. */
  roots?: { listChanged?: boolean };
  /** Set if the client answers sampling requests. `tools` and `context`: the requests may contain tools and context. */
  sampling?: { context?: JsonObject; tools?: JsonObject };
  /** Set if the client answers elicitations. An empty object means form mode only. */
  elicitation?: { form?: JsonObject; url?: JsonObject };
  /** Capabilities that are not part of the specification, by name. */
  experimental?: Record<string, JsonObject>;
  /** Settings of the supported extensions, by identifier such as `io.modelcontextprotocol/tasks`. */
  extensions?: Record<string, JsonObject>;
  [other: string]: unknown;
}

/** The capabilities that a server declares. */
export interface ServerCapabilities {
  /** Set if the server has tools. `listChanged`: it notifies of changes of the list. */
  tools?: { listChanged?: boolean };
  /** Set if the server has prompts. `listChanged`: it notifies of changes of the list. */
  prompts?: { listChanged?: boolean };
  /** Set if the server has resources. `subscribe`: clients can subscribe to a resource. */
  resources?: { listChanged?: boolean; subscribe?: boolean };
  /** Set if the server suggests values of arguments. */
  completions?: JsonObject;
  /** Set if the server sends log messages. */
  logging?: JsonObject;
  /** Capabilities that are not part of the specification, by name. */
  experimental?: Record<string, JsonObject>;
  /** Settings of the supported extensions, by identifier such as `io.modelcontextprotocol/tasks`. */
  extensions?: Record<string, JsonObject>;
  [other: string]: unknown;
}

/** An input that a server can request of a client. `.url` and `.tools` are modes that not every client supports. */
export type InputKind = "elicit" | "elicit.url" | "sample" | "sample.tools" | "roots";

/** Returns whether a server may request an input: the revision has it, and the client declared it. */
export function canRequest(
  kind: InputKind,
  capabilities: ClientCapabilities,
  { serverRequests, inputModes }: { readonly serverRequests: ReadonlySet<string>; readonly inputModes: boolean },
): boolean {
  const { roots, sampling } = capabilities;
  if (kind === "roots") return !!roots;
  if (kind === "sample") return !!sampling;
  if (kind === "sample.tools") return inputModes && !!sampling?.tools;
  if (kind === "elicit.url") return inputModes && canElicit(capabilities, "url");
  return serverRequests.has(Method.elicit) && canElicit(capabilities, "form");
}

/** Returns whether a client supports a mode of elicitation. An empty `elicitation: {}` means form mode. */
export function canElicit(capabilities: ClientCapabilities, mode: "form" | "url"): boolean {
  const { elicitation } = capabilities;
  if (!elicitation) return false;
  if (mode === "url") return elicitation.url !== undefined;
  return elicitation.form !== undefined || elicitation.url === undefined;
}

/** The params of `initialize`. */
export interface InitializeParams {
  /** The newest revision that the client supports. */
  protocolVersion: string;
  /** The capabilities of the client. */
  capabilities: ClientCapabilities;
  /** Name and version of the client. Not verified. */
  clientInfo: Implementation;
}

/** The result of `initialize`. */
export interface InitializeResult {
  /** The protocol revision that the server chose. */
  protocolVersion: string;
  /** The capabilities of the server. */
  capabilities: ServerCapabilities;
  /** Name and version of the server. Not verified. */
  serverInfo: Implementation;
  /** Instructions for the model on how to use the server. */
  instructions?: string;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** The result of `server/discover`. */
export interface DiscoverResult extends CacheHint {
  /** The protocol revisions that the server supports. */
  supportedVersions: string[];
  /** The capabilities of the server. */
  capabilities: ServerCapabilities;
  /** Instructions for the model on how to use the server. */
  instructions?: string;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** Validates the params of `initialize`. */
export function readInitializeParams(params: JsonObject): InitializeParams {
  const { protocolVersion, capabilities, clientInfo } = params;
  if (typeof protocolVersion !== "string") throw invalidParams("params.protocolVersion must be a string");
  if (!isObject(capabilities)) throw invalidParams("params.capabilities must be an object");
  if (!isImplementation(clientInfo)) {
    throw invalidParams('params.clientInfo must be an object with a string "name" and a string "version"');
  }
  return { protocolVersion, capabilities, clientInfo };
}

/** Returns whether a value describes a client or a server: an object with a name and a version. */
export function isImplementation(value: unknown): value is Implementation {
  return isObject(value) && typeof value.name === "string" && typeof value.version === "string";
}

/** Throws a TypeError if the id of an extension is not a valid key of `_meta` with a prefix. */
export function checkExtensionId(id: string): void {
  if (!isMetaKey(id) || !/\/./.test(id)) {
    throw new TypeError(`An extension's id must look like "com.example/feature"; got ${JSON.stringify(id)}.`);
  }
}
