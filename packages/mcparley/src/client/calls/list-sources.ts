import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { isObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import type { Prompt } from "../../mcp/prompts.ts";
import type { Resource, ResourceTemplate } from "../../mcp/resources.ts";
import type { Tool } from "../../mcp/tools.ts";
import type { ClientCore } from "./call.ts";
import { headersOf } from "./known-tools.ts";
import { type List, type ListSource, listOf, requireStrings } from "./lists.ts";
import type { RequestOptions } from "../options.ts";
import { perform } from "./perform.ts";
import { withSafeIcons } from "./safe-icons.ts";

type Entry<T> = Pick<ListSource<T>, "method" | "member" | "read" | "complete">;

function list<T>(core: ClientCore, options: RequestOptions, entry: Entry<T>): List<T> {
  return listOf({
    ...entry,
    read: (found) => entry.read(withSafeIcons(found, (icon) => reportIcon(core, entry.method, icon))),
    fetch: (cursor) => perform(core, entry.method, cursor === undefined ? {} : { cursor }, options),
    report: (error) => core.report(error),
    forget: () => core.cache?.forget(entry.method),
  });
}

function reportIcon(core: ClientCore, method: string, icon: unknown): void {
  const shown = JSON.stringify(icon)?.slice(0, 200);
  core.report(
    new LocalError(
      "invalid_message",
      `An icon of ${method} was left out, since its URI is neither https nor data: ${shown}`,
    ),
  );
}

/** The tools, each of which is known from then on. */
export function listTools(core: ClientCore, options: RequestOptions): List<Tool> {
  return list(core, options, {
    method: Method.listTools,
    member: "tools",
    read: (entry) => readTool(core, entry),
    complete: () => {
      core.tools.isComplete = true;
    },
  });
}

async function readTool({ tools, line }: ClientCore, entry: JsonObject): Promise<Tool> {
  requireStrings(entry, "name");
  if (!isObject(entry.inputSchema)) throw new TypeError('its "inputSchema" is not an object');
  const tool = entry as unknown as Tool;
  // A tool whose headers cannot be made must not be offered over HTTP (2026-07-28, Streamable HTTP, Schema Extension).
  if (line.current?.mirrors) await headersOf(tool);
  tools.set(tool);
  return tool;
}

export function listPrompts(core: ClientCore, options: RequestOptions): List<Prompt> {
  return list(core, options, { method: Method.listPrompts, member: "prompts", read: named("name") });
}

export function listResources(core: ClientCore, options: RequestOptions): List<Resource> {
  return list(core, options, { method: Method.listResources, member: "resources", read: named("uri", "name") });
}

export function listResourceTemplates(core: ClientCore, options: RequestOptions): List<ResourceTemplate> {
  return list(core, options, {
    method: Method.listResourceTemplates,
    member: "resourceTemplates",
    read: named("uriTemplate", "name"),
  });
}

function named<T>(...members: string[]): (entry: JsonObject) => T {
  return (entry) => {
    requireStrings(entry, ...members);
    return entry as T;
  };
}
