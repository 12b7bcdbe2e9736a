import { type ClientCapabilities, checkExtensionId } from "../mcp/capabilities.ts";
import type { ClientExtension } from "./extension.ts";
import type { ConnectOptions } from "./options.ts";

/** What a client with these handlers can be asked, in the words of an era. */
export function capabilitiesOf(options: ConnectOptions, era: "modern" | "legacy"): ClientCapabilities {
  const { sample, sampleTools, roots, extensions } = options;
  const modes = elicitModesOf(options);
  const capabilities: ClientCapabilities = {};
  // Without a mode there is nothing to declare: an empty object would stand for forms (client/elicitation, Capabilities).
  if (modes.length > 0) capabilities.elicitation = Object.fromEntries(modes.map((mode) => [mode, {}]));
  if (sample) capabilities.sampling = sampleTools ? { tools: {} } : {};
  if (roots) capabilities.roots = era === "legacy" ? { listChanged: true } : {};
  if (isExtensionList(extensions)) {
    capabilities.extensions = Object.fromEntries(extensions.map(({ id, settings = {} }) => [id, settings]));
  } else if (extensions) capabilities.extensions = extensions;
  return capabilities;
}

/** The options with one extension more. */
export function declaring(options: ConnectOptions, id: string): ConnectOptions {
  const { extensions = {} } = options;
  return {
    ...options,
    extensions: isExtensionList(extensions) ? [...extensions, { id }] : { ...extensions, [id]: {} },
  };
}

/** Throws for an extension whose identifier no server would know it by. */
export function checkExtensions({ extensions = {} }: ConnectOptions): void {
  const ids = isExtensionList(extensions) ? extensions.map(({ id }) => id) : Object.keys(extensions);
  for (const id of ids) checkExtensionId(id);
}

/** Whether a client was given extensions with what they do. */
export function isExtensionList(extensions: ConnectOptions["extensions"]): extensions is readonly ClientExtension[] {
  return Array.isArray(extensions);
}

/** The kinds of question that can be shown to a person; none where nobody can be asked. */
export function elicitModesOf({ elicit, elicitModes = ["form", "url"] }: ConnectOptions): readonly ("form" | "url")[] {
  return elicit ? elicitModes : [];
}
