import type { Awaitable } from "../../rpc/awaitable.ts";
import type { Clock } from "../../rpc/clock.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { McpHeader } from "../../mcp/headers/mirrored-headers.ts";
import type { Tool } from "../../mcp/tools.ts";
import type { Validator } from "../../schema/schema.ts";

/** Maximum number of remembered reports. */
const maxReports = 1_000;

/** A listed tool, and the values that are prepared from it. */
export interface KnownTool {
  readonly tool: Tool;
  /** The time until which the page of the tool is fresh. */
  readonly freshUntil: number;
  /** The check of the output schema, prepared when the tool returns its first result. Undefined if the schema cannot be used. */
  output?: Promise<Validator | undefined>;
  /** The arguments that are mirrored into headers. Undefined if the list was read from a server without such headers. */
  headers: readonly McpHeader[] | undefined;
}

/** One reading of the list of tools. */
export interface Listing {
  readonly tools: Map<unknown, KnownTool>;
  /** The generation of the list when the listing was started. */
  readonly generation: number;
  /** The time until which the page that is read is fresh, and the time for all pages. */
  pageUntil: number;
  freshUntil: number;
}

/** A listing of all tools for the calls that look a tool up. It runs once for all of them. */
export interface Lookup {
  /** The tools that were listed so far. */
  tools: ReadonlyMap<unknown, KnownTool>;
  /** Settles with the page that is being read. Never rejects. */
  page: Promise<void>;
  isDone: boolean;
  error?: unknown;
  /** The number of calls that wait for it. It is cancelled when the last of them is cancelled. */
  waiting: number;
  cancel(this: void): void;
}

/**
 * The tools that are known from listings. Each change of the list starts a generation. A listing that was started in an
 * earlier generation is of use to its reader only, since the change may have overtaken it.
 */
export class KnownTools {
  readonly #clock: Clock;
  #known = new Map<unknown, KnownTool>();
  #generation = 0;
  /** The time until which a tool that is not known does not exist. */
  #completeUntil = -Infinity;
  /** The tools and reasons for which an output schema was reported. */
  readonly #reports = new Set<string>();
  /** The listing for calls that look a tool up. */
  lookup: Lookup | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Changes with each change of the list. */
  get generation(): number {
    return this.#generation;
  }

  /** Returns a tool of the last listing, also if its page is no longer fresh. */
  get(name: unknown): KnownTool | undefined {
    return this.#known.get(name);
  }

  /** Returns whether `get` needs no listing: the tool or the whole list is fresh. */
  isSettled(name: unknown): boolean {
    return this.#clock.now() < Math.max(this.#completeUntil, this.#known.get(name)?.freshUntil ?? -Infinity);
  }

  begin(): Listing {
    return { tools: new Map(), generation: this.#generation, pageUntil: Infinity, freshUntil: Infinity };
  }

  /** Notes the lifetime of a page. Tools whose server sets none are known until the list changes. */
  beginPage(listing: Listing, { ttlMs }: JsonObject): void {
    listing.pageUntil = typeof ttlMs === "number" && ttlMs > 0 ? this.#clock.now() + ttlMs : Infinity;
    listing.freshUntil = Math.min(listing.freshUntil, listing.pageUntil);
  }

  add(listing: Listing, tool: Tool, headers: KnownTool["headers"]): void {
    const knownTool: KnownTool = { tool, freshUntil: listing.pageUntil, headers };
    listing.tools.set(tool.name, knownTool);
    if (listing.generation === this.#generation) this.#known.set(tool.name, knownTool);
  }

  /** Called when a listing has read all pages. */
  complete({ tools, generation, freshUntil }: Listing): void {
    if (generation !== this.#generation) return;
    this.#known = tools;
    this.#completeUntil = freshUntil;
  }

  /** Called when the list cannot be read. It is not read again until it changes. */
  giveUp(generation: number): void {
    if (generation === this.#generation) this.#completeUntil = Infinity;
  }

  /** Returns whether a reason is reported for a tool for the first time. */
  noteReport(name: string, reason: string): boolean {
    const key = JSON.stringify([name, reason]);
    if (this.#reports.has(key)) return false;
    this.#reports.add(key);
    if (this.#reports.size > maxReports) this.#reports.delete(this.#reports.values().next().value!);
    return true;
  }

  /** Forgets all tools: the list has changed, or may have. */
  clear(): void {
    this.#generation++;
    this.#known = new Map();
    this.#completeUntil = -Infinity;
    this.lookup = undefined;
  }
}

/**
 * Returns the arguments of a tool that are mirrored into headers. Throws if a mark breaks the rules. Most tools mark none,
 * so the code that reads the marks is loaded with the first tool that does.
 */
export function headersOf({ inputSchema }: Tool): Awaitable<readonly McpHeader[]> {
  if (!hasMark(inputSchema)) return [];
  return import("../../mcp/headers/mirrored-headers.ts").then(({ mcpHeaders }) => mcpHeaders(inputSchema));
}

/**
 * Returns whether a schema may have a mark. Marks below 64 nested schemas are ignored, and each of these is at most two levels
 * of JSON. Runs for each listed tool. It allocates nothing: a closure would need a context for each visited value.
 */
function hasMark(value: unknown, level = 0): boolean {
  if (typeof value !== "object" || value === null || level > 128) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (hasMark(item, level + 1)) return true;
    return false;
  }
  for (const name in value) {
    if (name === "x-mcp-header" || hasMark((value as JsonObject)[name], level + 1)) return true;
  }
  return false;
}
