import type { Tool } from "mcparley/server";
import type { FolderContents } from "./load-folder.ts";

/**
 * A command that shows at once what the server does: a call of a tool that only reads and whose schema has an example
 * for each argument that it needs, or else the list of all there is.
 */
export function tryLine({ tools }: FolderContents, url: string, command: string): string {
  for (const { name, definition } of tools) {
    const words = definition.annotations?.readOnlyHint === true ? exampleArguments(definition) : undefined;
    if (words && words.length > 0) return [command, "call", url, name, ...words].join(" ");
  }
  return [command, "list", url].join(" ");
}

function exampleArguments({ input }: Tool): string[] | undefined {
  const { properties = {}, required = [] } = (input ?? {}) as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  const words: string[] = [];
  for (const name of required) {
    const { type, examples } = (properties[name] ?? {}) as { type?: unknown; examples?: unknown[] };
    const example = Array.isArray(examples) ? examples[0] : undefined;
    if (type !== "string" || typeof example !== "string" || !/^[\w ,.?-]+$/.test(example)) return undefined;
    words.push(/^[\w.,-]+$/.test(example) ? `${name}=${example}` : `${name}="${example}"`);
  }
  return words;
}

/** How a person calls this command where it runs now: by npm's own words where npm started it. */
export function commandName(env: Readonly<Record<string, string | undefined>>): string {
  if (env.npm_command === "exec") return "npx @mcparley/cli";
  if (env.npm_command === "start" || env.npm_lifecycle_event !== undefined) return "npm run mcparley --";
  return "mcparley";
}
