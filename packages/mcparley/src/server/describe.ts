import { LocalError } from "../rpc/errors.ts";
import { checkMetaKeys } from "../mcp/checks/check-metadata.ts";
import type { Prompt as ListedPrompt } from "../mcp/prompts.ts";
import type { Prompt, Resource, Tool } from "./definition.ts";

/** Returns the list members that tools, prompts and resources have in common. */
export function describe(name: string, definition: Tool | Prompt | Resource): { name: string } {
  const { title, description, icons, meta } = definition;
  const described: ListedPrompt = { name };
  if (title !== undefined) described.title = title;
  if (description !== undefined) described.description = description;
  if (icons !== undefined) described.icons = icons;
  checkMetaKeys(meta, "meta");
  if (meta !== undefined) described._meta = meta;
  return described;
}

/** Runs `prepare`. An error becomes `invalid_definition` with a message that names the definition. */
export function explained<T>(what: string, prepare: () => T): T {
  try {
    return prepare();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LocalError("invalid_definition", `The ${what} cannot be offered: ${reason}`, { cause });
  }
}
