import { invalidParams } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";
import type { Icon } from "./content.ts";
import { isMetaKey } from "./meta-keys.ts";
import type { CacheHint } from "./resources.ts";

/** The name of a client or a server, as it describes itself. Not verified: display it, but do not trust it. */
export interface Implementation {
  name: string;
  version: string;
  title?: string;
  description?: string;
  websiteUrl?: string;
  icons?: readonly Icon[];
}

/** The capabilities that a client declares. */
export interface ClientCapabilities {
  roots?: { listChanged?: boolean };
  sampling?: { context?: JsonObject; tools?: JsonObject };
  /** An empty object means form mode only. */
  elicitation?: { form?: JsonObject; url?: JsonObject };
  experimental?: Record<string, JsonObject>;
  extensions?: Record<string, JsonObject>;
  [other: string]: unknown;
}

/** The capabilities that a server declares. */
export interface ServerCapabilities {
  tools?: { listChanged?: boolean };
  prompts?: { listChanged?: boolean };
  resources?: { listChanged?: boolean; subscribe?: boolean };
  completions?: JsonObject;
  logging?: JsonObject;
  experimental?: Record<string, JsonObject>;
  extensions?: Record<string, JsonObject>;
  [other: string]: unknown;
}

/** Returns whether a client supports a mode of elicitation. An empty `elicitation: {}` means form mode. */
export function canElicit(capabilities: ClientCapabilities, mode: "form" | "url"): boolean {
  const { elicitation } = capabilities;
  if (!elicitation) return false;
  if (mode === "url") return elicitation.url !== undefined;
  return elicitation.form !== undefined || elicitation.url === undefined;
}

export interface InitializeParams {
  protocolVersion: string;
  capabilities: ClientCapabilities;
  clientInfo: Implementation;
}

/** The result of `initialize`. */
export interface InitializeResult {
  protocolVersion: string;
  capabilities: ServerCapabilities;
  serverInfo: Implementation;
  instructions?: string;
  _meta?: JsonObject;
}

/** The result of `server/discover`. */
export interface DiscoverResult extends CacheHint {
  supportedVersions: string[];
  capabilities: ServerCapabilities;
  instructions?: string;
  _meta?: JsonObject;
}

/** Validates the params of `initialize`. */
export function readInitializeParams(params: JsonObject): InitializeParams {
  const { protocolVersion, capabilities, clientInfo } = params;
  if (typeof protocolVersion !== "string") throw invalidParams("params.protocolVersion must be a string");
  if (!isObject(capabilities)) throw invalidParams("params.capabilities must be an object");
  return { protocolVersion, capabilities, clientInfo: readImplementation(clientInfo, "params.clientInfo") };
}

/** Validates the name and version of a client or server. */
function readImplementation(value: unknown, where: string): Implementation {
  if (!isObject(value) || typeof value.name !== "string" || typeof value.version !== "string") {
    throw invalidParams(`${where} must be an object with a string "name" and a string "version"`);
  }
  return value as unknown as Implementation;
}

/** Throws a TypeError if the id of an extension is not a `_meta` key with a prefix. */
export function checkExtensionId(id: string): void {
  if (!isMetaKey(id) || !/\/./.test(id)) {
    throw new TypeError(`An extension's id must look like "com.example/feature"; got ${JSON.stringify(id)}.`);
  }
}
