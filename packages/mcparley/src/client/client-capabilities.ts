import { type ClientCapabilities, checkExtensionId } from "../mcp/capabilities.ts";
import { checkReservedId } from "../mcp/checks/reserved-ids.ts";
import type { ClientExtension } from "./extension.ts";
import type { ConnectOptions } from "./options.ts";

/** The capabilities of a client with these handlers, in modern or legacy form. */
function capabilitiesOf(options: ConnectOptions, kind: "modern" | "legacy"): ClientCapabilities {
  const { sample, sampleTools, sampleContext, roots, extensions, experimental } = options;
  const modes = elicitModesOf(options);
  const capabilities: ClientCapabilities = {};
  // Without a mode nothing is declared, because an empty object means forms (client/elicitation, Capabilities).
  if (modes.length > 0) capabilities.elicitation = Object.fromEntries(modes.map((mode) => [mode, {}]));
  if (sample) capabilities.sampling = { ...(sampleTools && { tools: {} }), ...(sampleContext && { context: {} }) };
  if (roots) capabilities.roots = kind === "legacy" ? { listChanged: true } : {};
  if (isExtensionList(extensions)) {
    capabilities.extensions = Object.fromEntries(extensions.map(({ id, settings = {} }) => [id, settings]));
  } else if (extensions) capabilities.extensions = extensions;
  if (experimental) capabilities.experimental = experimental;
  return capabilities;
}

/** Returns a function for the capabilities of each kind of revision. Each request of a modern one has them, so they are made once. */
export function preparedCapabilities(options: ConnectOptions): (kind: "modern" | "legacy") => ClientCapabilities {
  const modern = capabilitiesOf(options, "modern");
  return (kind) => (kind === "modern" ? modern : capabilitiesOf(options, kind));
}

/** Returns the options with an additional extension. */
export function declaring(options: ConnectOptions, id: string): ConnectOptions {
  const { extensions = {} } = options;
  return {
    ...options,
    extensions: isExtensionList(extensions) ? [...extensions, { id }] : { ...extensions, [id]: {} },
  };
}

/** Throws for an extension with an invalid identifier, or with one that MCP reserves. */
export function checkExtensions({ extensions = {} }: ConnectOptions): void {
  const ids = isExtensionList(extensions) ? extensions.map(({ id }) => id) : Object.keys(extensions);
  for (const id of ids) {
    checkExtensionId(id);
    checkReservedId(id);
  }
}

/** Whether the option contains extensions with code, and not only their settings. */
export function isExtensionList(extensions: ConnectOptions["extensions"]): extensions is readonly ClientExtension[] {
  return Array.isArray(extensions);
}

/** The elicitation modes that the client declares. None without an `elicit` handler. */
export function elicitModesOf({ elicit, elicitModes = ["form", "url"] }: ConnectOptions): readonly ("form" | "url")[] {
  return elicit ? elicitModes : [];
}
