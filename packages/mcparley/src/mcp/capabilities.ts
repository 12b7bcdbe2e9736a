import type { JsonObject } from "../rpc/messages.ts";
import type { Icon } from "./content.ts";

/** Who a client or a server says it is. Nothing verifies it: display it, never decide by it. */
export interface Implementation {
  name: string;
  version: string;
  title?: string;
  description?: string;
  websiteUrl?: string;
  icons?: Icon[];
}

/** The capabilities that a client declares. */
export interface ClientCapabilities {
  roots?: { listChanged?: boolean };
  sampling?: { context?: JsonObject; tools?: JsonObject };
  /** An empty object means form mode alone. */
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

/** Whether a client can be asked with this mode of elicitation; a bare `elicitation: {}` means form mode. */
export function canElicit(capabilities: ClientCapabilities, mode: "form" | "url"): boolean {
  const { elicitation } = capabilities;
  if (!elicitation) return false;
  if (mode === "url") return elicitation.url !== undefined;
  return elicitation.form !== undefined || elicitation.url === undefined;
}
