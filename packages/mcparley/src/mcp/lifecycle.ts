import { invalidParams } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";
import type { ClientCapabilities, Implementation, ServerCapabilities } from "./capabilities.ts";
import type { CacheHint } from "./resources.ts";

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

/** Checks the params of `initialize`. */
export function readInitializeParams(params: JsonObject): InitializeParams {
  const { protocolVersion, capabilities, clientInfo } = params;
  if (typeof protocolVersion !== "string") throw invalidParams("params.protocolVersion must be a string");
  if (!isObject(capabilities)) throw invalidParams("params.capabilities must be an object");
  return { protocolVersion, capabilities, clientInfo: readImplementation(clientInfo, "params.clientInfo") };
}

/** Checks a client's or server's name and version. */
export function readImplementation(value: unknown, where: string): Implementation {
  if (!isObject(value) || typeof value.name !== "string" || typeof value.version !== "string") {
    throw invalidParams(`${where} must be an object with a string "name" and a string "version"`);
  }
  return value as unknown as Implementation;
}
