import type { Prompt as ListedPrompt, PromptArgument } from "../../mcp/prompts.ts";
import type { Prompt } from "../definition.ts";
import { describe, explained } from "../describe.ts";
import type { Entry } from "../registry.ts";

export interface PromptEntry extends Entry<Prompt> {
  readonly listed: ListedPrompt;
  readonly required: readonly string[];
}

export function preparePrompt(entry: Entry<Prompt>): PromptEntry {
  const { name, definition } = entry;
  return explained(`prompt "${name}"`, () => {
    if (typeof definition.get !== "function") throw new TypeError("it has no `get` function");
    const args = Object.entries(definition.arguments ?? {});
    const listed: ListedPrompt = describe(name, definition);
    if (args.length > 0) {
      listed.arguments = args.map(([argument, { title, description, required }]) => {
        const shown: PromptArgument = { name: argument };
        if (title !== undefined) shown.title = title;
        if (description !== undefined) shown.description = description;
        if (required) shown.required = true;
        return shown;
      });
    }
    return { ...entry, listed, required: args.filter(([, { required }]) => required).map(([argument]) => argument) };
  });
}
