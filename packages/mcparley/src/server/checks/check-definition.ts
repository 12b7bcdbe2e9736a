import { type Implementation, checkExtensionId } from "../../mcp/capabilities.ts";
import { checkMetaKeys } from "../../mcp/checks/check-metadata.ts";
import { checkReservedId } from "../../mcp/checks/reserved-ids.ts";
import type { Prompt as ListedPrompt } from "../../mcp/prompts.ts";
import { checkCacheHint, isUri } from "../../mcp/resources.ts";
import { findRevision, supportedVersions } from "../../mcp/revisions/index.ts";
import { checkTime } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { requireWellFormed } from "../../rpc/well-formed.ts";
import type { Prompt, Resource, Tool } from "../core/definition-types.ts";
import type { ServerObserver } from "../core/observer.ts";
import type { AnyServerDefinition } from "../core/options.ts";
import { checkMembers, isRecord } from "./known-members.ts";

/** Runs `prepare`. An error becomes `invalid_definition` with a message that names the definition. */
export function explainErrors<T>(what: string, prepare: () => T): T {
  try {
    return prepare();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LocalError("invalid_definition", `The ${what} cannot be offered: ${reason}`, { cause });
  }
}

/**
 * Returns the list members that tools, prompts and resources have in common. Throws a TypeError for a member that would be
 * ignored, and for one that is invalid.
 */
export function describe(
  kind: "tool" | "prompt" | "resource",
  name: string,
  definition: Tool | Prompt | Resource,
): { name: string } {
  const { "~definition": parameter } = definition;
  // The text of `tool("name", ...)` has another error.
  if (isObject(parameter)) checkMembers(kind, parameter);
  const { name: otherName = name } = definition as { name?: unknown };
  if (otherName !== name) throw new TypeError(`its name is its key in "${kind}s"; leave "name" out`);
  const { title, description, icons, meta, scopes } = definition;
  checkIcons(icons);
  checkScopes(scopes);
  checkMetaKeys(meta, "meta");
  return withoutUndefined<ListedPrompt>({ name, title, description, icons, _meta: meta });
}

/** Returns a copy of an object without the members that are undefined. */
export function withoutUndefined<R extends object>(members: { [K in keyof R]: R[K] | undefined }): R {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as R;
}

function checkIcons(icons: unknown): void {
  if (icons === undefined) return;
  if (!Array.isArray(icons))
    throw new TypeError('"icons" must be a list, such as [{ src: "https://example.com/icon.png" }]');
  for (const [index, icon] of icons.entries()) {
    const where = `icons[${index}]`;
    checkMembers("icon", icon, where);
    const { src, sizes = [] } = icon as JsonObject;
    if (typeof src !== "string") throw new TypeError(`"${where}.src" must be a URL`);
    requireWellFormed(src, `"${where}.src"`);
    if (!Array.isArray(sizes) || sizes.some((size) => typeof size !== "string"))
      throw new TypeError(`"${where}.sizes" must be a list, such as ["48x48"]`);
  }
}

/** Throws a TypeError if a value is no list of scopes. A text of several scopes would be one that no caller has. */
export function checkScopes(scopes: unknown): void {
  if (scopes === undefined) return;
  if (Array.isArray(scopes) && scopes.every((scope) => typeof scope === "string" && /^\S+$/.test(scope))) return;
  throw new TypeError('"scopes" must be a list of texts without spaces, such as ["notes:read", "notes:write"]');
}

/** Throws a TypeError if a value is no list of extensions. `example` is a function that returns one. */
export function checkExtensions(extensions: unknown, example: string): void {
  const isList =
    Array.isArray(extensions) && extensions.every((item) => isObject(item) && typeof item["id"] === "string");
  if (!isList) throw new TypeError(`"extensions" must be a list, such as [${example}()]`);
}

/** Throws a TypeError if a value is neither a list of suggestions nor a function. `where` is its path. */
export function checkComplete(complete: unknown, where: string): void {
  const isList = Array.isArray(complete) && complete.every((value) => typeof value === "string");
  if (complete === undefined || typeof complete === "function" || isList) return;
  throw new TypeError(`"${where}" must be a list of texts or a function`);
}

/** Throws if a tool has a name that the specification does not allow (2026-07-28, server/tools, Tool Names). */
export function checkToolName(name: string): void {
  // `{1,128}` in the pattern would take three times as long to compile, at the start of every server.
  if (name.length > 128 || !/^[\w.-]+$/.test(name))
    throw new TypeError('its name must have 1 to 128 letters, digits, "_", "-" and "."');
}

/** Throws if the URI of a resource is not absolute. A template is checked up to its first expression. */
export function checkUri(uri: unknown): void {
  if (typeof uri !== "string" || uri === "") throw new TypeError("it has no URI; write resource(uri, { read })");
  const start = requireWellFormed(uri, "its URI").split("{")[0]!;
  const isAbsolute = uri.includes("{") ? /^([a-z][a-z\d+.-]*(:\S*)?)?$/i.test(start) : isUri(uri);
  if (isAbsolute) return;
  throw new TypeError(`its URI ${JSON.stringify(uri.slice(0, 80))} is not absolute; write one such as note://1`);
}

/** Throws `invalid_definition` if definitions are an array or a `Map`, which have no names as properties. */
export function checkRecord(kind: string, definitions: unknown): void {
  if (definitions === undefined || isRecord(definitions)) return;
  const type = Array.isArray(definitions) ? "array" : "other value";
  throw invalid(`${kind} must be a record by name, such as { ${kind}: { first, second } }, not an ${type}.`);
}

/** Returns middleware by method. Throws `invalid_definition` if a method does not exist, because it would never run. */
export function checkMethods<M extends object>(layers: M, exists: (method: string) => boolean): M {
  if (!isRecord(layers) || Object.values(layers).some((layer) => typeof layer !== "function"))
    throw invalid('Middleware must be a function, or functions by method, such as { "tools/call": log }.');
  const unknown = Object.keys(layers).find((method) => !exists(method));
  if (unknown === undefined) return layers;
  const cause = "neither MCP nor an extension of this server defines the method";
  throw invalid(`Middleware for ${JSON.stringify(unknown)} would never run: ${cause}.`);
}

const isKey = (key: unknown): boolean => key instanceof Uint8Array && key.length === 32;

/** Throws `invalid_definition` if an option of a server is invalid. Tools, prompts and resources are checked by themselves. */
export function checkServer(definition: AnyServerDefinition): void {
  explainErrors("server", () => checkServerMembers(definition));
  const { name, version, store, stateKeys, listCache, revisions, pingInterval, extensions } = definition;
  if (typeof name !== "string" || name === "" || typeof version !== "string" || version === "") {
    throw invalid("A server needs a name and a version, both non-empty strings.");
  }
  explainErrors("server", () => requireWellFormed(name, "its name"));
  if (stateKeys && (stateKeys.length === 0 || !stateKeys.every(isKey))) {
    throw invalid("stateKeys must hold at least one key, and each must be a Uint8Array of 32 bytes.");
  }
  // A likely mistake is to pass a database client instead of a store.
  if (store && typeof store.compareAndSet !== "function") {
    throw invalid("store must be a Store, such as memoryStore().");
  }
  explainErrors("listCache", () => checkCacheHint(listCache ?? {}));
  explainErrors("server", () => checkTime("pingInterval", pingInterval));
  const unknown = revisions?.find((version) => !findRevision(version));
  if (revisions?.length === 0 || unknown !== undefined) {
    const why =
      unknown === undefined ? "revisions is empty." : `The revision ${JSON.stringify(unknown)} does not exist.`;
    throw invalid(`${why} Choose from ${supportedVersions.join(", ")}.`);
  }
  for (const extension of extensions ?? []) {
    const { id } = extension;
    if ("beforeCall" in extension || "list" in extension)
      throw invalid(`The extension ${id} belongs to a tool: tool({ extensions: [...] }).`);
    checkExtensionId(id);
    checkReservedId(id);
  }
}

const observations: readonly (keyof ServerObserver)[] = ["started", "refused", "sessionEnded", "failed"];

function checkServerMembers(definition: AnyServerDefinition): void {
  checkMembers("server", definition);
  checkIcons(definition.icons);
  checkExtensions(definition.extensions ?? [], "tasks");
  requireWellFormed(definition.websiteUrl ?? "", '"websiteUrl"');
  const { clock } = definition;
  if (clock && !(["now", "setTimeout", "clearTimeout"] as const).every((name) => typeof clock[name] === "function"))
    throw new TypeError('"clock" must have the methods now, setTimeout and clearTimeout, as systemClock has');
  const isObserver = (observer: object): boolean => observations.some((name) => name in observer);
  if (!(definition.observers ?? []).every(isObserver))
    throw new TypeError(
      `each of "observers" must have one of the methods ${observations.join(", ")}, as logTo(logger) has`,
    );
  for (const [kind, member] of [
    ["limits", "limits"],
    ["capabilities", "capabilities"],
    ["cache", "listCache"],
  ] as const)
    checkMembers(kind, definition[member] ?? {}, member);
}

function invalid(why: string): LocalError {
  return new LocalError("invalid_definition", why);
}

/** Returns the description of a server from its definition. */
export function infoOf({ name, version, title, description, websiteUrl, icons }: AnyServerDefinition): Implementation {
  return withoutUndefined<Implementation>({ name, version, title, description, websiteUrl, icons });
}
