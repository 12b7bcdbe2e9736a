import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";

/** The identifier of MCP Apps (SEP-1865). */
export const appsId = "io.modelcontextprotocol/ui";
/** The MIME type of an app: an HTML document that runs in a sandbox of the host. */
export const appType = "text/html;profile=mcp-app";

/** A party that may see and call a tool. */
export type Audience = "model" | "app";

/** A tool's `_meta.ui`: the app that shows its results, and its allowed callers. */
export interface ToolUi {
  /** The `ui://` URI of the app. A tool that only an app calls may have none. */
  resourceUri?: string;
  /** Default: both. A host hides a tool without `"model"` from its model, and a tool without `"app"` from apps. */
  visibility?: readonly Audience[];
}

/** The origins that an app may reach. An omitted list allows no origin. */
export interface AppOrigins {
  /** For requests: `connect-src`. */
  connectDomains?: readonly string[];
  /** For scripts, styles, images, fonts and media. */
  resourceDomains?: readonly string[];
  /** For frames inside the app: `frame-src`. */
  frameDomains?: readonly string[];
  /** For the document's base: `base-uri`. */
  baseUriDomains?: readonly string[];
}

/** The `_meta.ui` of an app. The host grants nothing that is not listed here, and may grant less. */
export interface AppUi {
  /** The origins that the app may use. Default: none. */
  csp?: AppOrigins;
  /** The browser permissions that the app requests, each with an empty object. */
  permissions?: Partial<Record<"camera" | "microphone" | "geolocation" | "clipboardWrite", Record<string, never>>>;
  /** A dedicated origin for the app, in a format that the host defines. */
  domain?: string;
  /** Whether the host draws a border and a background. Default: the host decides. */
  prefersBorder?: boolean;
}

const originLists = ["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"] as const;
const permissionNames = ["camera", "microphone", "geolocation", "clipboardWrite"] as const;
/** A scheme and a host, whose first label may be `*`. It excludes characters that could start another CSP directive. */
const originPattern = /^(https?|wss?):\/\/(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/i;

/** Reads the `_meta.ui` of a tool, undefined if there is none. Throws `LocalError` `invalid_message` if it is invalid. */
export function readToolUi(meta: JsonObject | undefined): ToolUi | undefined {
  const ui = uiIn(meta);
  // Servers still send the deprecated flat key, in place of the URI of the `ui` object or together with it.
  const flatUri = meta?.["ui/resourceUri"];
  if (!ui && flatUri === undefined) return undefined;
  const { resourceUri = flatUri, visibility }: JsonObject = ui ?? {};
  if (resourceUri !== undefined && !isAppUri(resourceUri)) throw wrong("ui.resourceUri", "must start with ui://");
  if (visibility !== undefined && !isVisibility(visibility)) {
    throw wrong("ui.visibility", 'must be a list of "model" and "app"');
  }
  return {
    ...(resourceUri !== undefined && { resourceUri }),
    ...(visibility !== undefined && { visibility }),
  };
}

/** Reads the `_meta.ui` of an app, empty if there is none. Throws `LocalError` `invalid_message` if it is invalid. */
export function readAppUi(meta: JsonObject | undefined): AppUi {
  const { csp, permissions, domain, prefersBorder } = uiIn(meta) ?? {};
  if (domain !== undefined && typeof domain !== "string") throw wrong("ui.domain", "must be a string");
  if (prefersBorder !== undefined && typeof prefersBorder !== "boolean") {
    throw wrong("ui.prefersBorder", "must be a boolean");
  }
  return {
    ...(csp !== undefined && { csp: readOrigins(csp) }),
    ...(permissions !== undefined && { permissions: readPermissions(permissions) }),
    ...(domain !== undefined && { domain }),
    ...(prefersBorder !== undefined && { prefersBorder }),
  };
}

/** Returns whether a value is a `ui://` URI. */
export function isAppUri(uri: unknown): uri is string {
  return typeof uri === "string" && uri.startsWith("ui://") && uri.length > "ui://".length;
}

/** Returns the `ui` of metadata, undefined if there is none. Null is invalid: it must not count as the default. */
export function uiIn(meta: JsonObject | undefined): JsonObject | undefined {
  if (meta === undefined) return undefined;
  if (!isObject(meta)) throw new LocalError("invalid_message", "_meta must be an object.");
  if (meta.ui !== undefined && !isObject(meta.ui)) throw wrong("ui", "must be an object");
  return meta.ui;
}

function isVisibility(value: unknown): value is Audience[] {
  return Array.isArray(value) && value.every((audience) => audience === "model" || audience === "app");
}

function readOrigins(csp: unknown): AppOrigins {
  if (!isObject(csp)) throw wrong("ui.csp", "must be an object");
  const read: AppOrigins = {};
  for (const name of originLists) {
    const origins = csp[name];
    if (origins === undefined) continue;
    if (!Array.isArray(origins)) throw wrong(`ui.csp.${name}`, "must be a list of origins");
    const invalid = origins.find((origin) => typeof origin !== "string" || !originPattern.test(origin));
    if (invalid !== undefined) {
      const text = (JSON.stringify(invalid) ?? typeof invalid).slice(0, 100);
      throw wrong(`ui.csp.${name}`, `must contain only origins; got ${text}`);
    }
    read[name] = origins;
  }
  return read;
}

/** Reads the permissions and drops unknown ones, so that an app never gets a permission that its host does not know. */
function readPermissions(permissions: unknown): NonNullable<AppUi["permissions"]> {
  if (!isObject(permissions)) throw wrong("ui.permissions", "must be an object");
  return Object.fromEntries(permissionNames.filter((name) => isObject(permissions[name])).map((name) => [name, {}]));
}

function wrong(where: string, why: string): LocalError {
  return new LocalError("invalid_message", `_meta.${where} ${why}.`);
}
