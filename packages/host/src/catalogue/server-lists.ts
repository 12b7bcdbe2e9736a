import type { Prompt, Resource, ResourceTemplate, Tool } from "mcparley/client";

/** The lists of one server, as the server sent them. */
export interface ServerLists {
  /** The tools. */
  readonly tools: readonly Tool[];
  /** The prompts. */
  readonly prompts: readonly Prompt[];
  /** The resources. */
  readonly resources: readonly Resource[];
  /** The resource templates. */
  readonly templates: readonly ResourceTemplate[];
  /** The time at which the server sent them, in milliseconds since 1970. */
  readonly listedAt: number;
  /** Whether they come from the cache of an earlier connection. */
  readonly isCached: boolean;
}
