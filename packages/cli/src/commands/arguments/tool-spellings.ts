import type { Tool } from "mcparley";
import { matchesGlob } from "@mcparley/internal/glob";
import { didYouMean, nearest } from "../../terminal/did-you-mean.ts";

/** A tool, and the names that a person can write for it. */
export interface NamedTool {
  /** The name in lists and hints. In a chat it is the name for the model. */
  readonly name: string;
  /** The names of its server. */
  readonly server: string | readonly string[];
  readonly tool: Pick<Tool, "name">;
}

/** The tools that were listed, and the names of all servers. */
export interface NamedTools<T extends NamedTool = NamedTool> {
  readonly tools: readonly T[];
  readonly servers: readonly string[];
}

/** The tools of some servers, with `*` for any characters. Without `server`, those of all servers. */
export interface ToolPattern {
  readonly server?: string;
  readonly tool: string;
}

/** The texts that separate the name of a server from that of its tool. */
const marks = [":", "__", "/"];

/** Returns the names of a tool: that in lists, its own, and its own after each name of its server. */
function spellingsOf({ name, server, tool }: NamedTool): string[] {
  return [name, tool.name, ...[server].flat().flatMap((one) => marks.map((mark) => one + mark + tool.name))];
}

/** Returns the tools with a name in one of its spellings. A tool with this name in lists is the only one. */
export function toolsNamed<T extends NamedTool>(name: string, tools: readonly T[]): readonly T[] {
  const exact = tools.find((tool) => tool.name === name);
  return exact ? [exact] : tools.filter((tool) => spellingsOf(tool).includes(name));
}

/** Returns a hint for an unknown name of a tool: the one that was probably meant, or all names. */
export function similarTool(name: string, tools: readonly NamedTool[]): string {
  const names = tools.map((tool) => tool.name);
  // The first of several similar names is taken.
  const similar = nearest(name, [...names, ...tools.map(({ tool }) => tool.name), ...tools.flatMap(spellingsOf)]);
  return similar === undefined ? didYouMean(name, names) : `Did you mean "${similar}"?`;
}

/**
 * Returns the tools that a pattern of `--allow` allows: names in each spelling, with `*` for any characters.
 *
 * A text before a mark is a server if one has this name. Otherwise a server could name its tool like that of another one.
 */
export function patternTools(pattern: string, { tools, servers }: NamedTools): readonly ToolPattern[] {
  const exact = tools.find(({ name }) => name === pattern);
  const exactPatterns = exact ? [exact.server].flat().map((server) => ({ server, tool: exact.tool.name })) : [];
  const patterns = [
    // A name with `*` would allow other tools.
    ...exactPatterns.filter(({ server, tool }) => !`${server}${tool}`.includes("*")),
    ...marks
      .flatMap((mark) => splitPattern(pattern, mark))
      .filter(({ server }) => servers.some((name) => matchesGlob(server, name))),
  ];
  return patterns.length > 0 ? patterns : [{ tool: pattern }];
}

/** Returns the text before and after each occurrence of a mark. */
function splitPattern(pattern: string, mark: string): { server: string; tool: string }[] {
  const parts = pattern.split(mark);
  return parts
    .slice(1)
    .map((_, index) => ({
      server: parts.slice(0, index + 1).join(mark),
      tool: parts.slice(index + 1).join(mark),
    }))
    .filter(({ server, tool }) => server !== "" && tool !== "");
}

/** Whether a pattern of `--allow` allows a tool. */
export function isAllowed(pattern: string, { server, tool }: NamedTool, named: NamedTools): boolean {
  return patternTools(pattern, named).some(
    (one) =>
      matchesGlob(one.tool, tool.name) &&
      (one.server === undefined || [server].flat().some((name) => matchesGlob(one.server!, name))),
  );
}

/** Returns a sentence for each pattern of `--allow` that matches no tool, with a similar name. */
export function unmatchedPatterns(patterns: readonly string[], named: NamedTools): string[] {
  return patterns
    .filter((pattern) => !named.tools.some((tool) => isAllowed(pattern, tool, named)))
    .map((pattern) => `--allow ${JSON.stringify(pattern)} matches no tool. ${similarTool(pattern, named.tools)}`);
}
