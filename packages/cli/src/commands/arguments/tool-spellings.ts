import type { Tool } from "mcparley";
import { matchesGlob } from "@mcparley/internal/glob";
import { didYouMean, nearest } from "../../terminal/did-you-mean.ts";

/** The tools of a server, and the names that the server has: in its configuration, on the command line and its own. */
export interface NamedTools {
  readonly servers: readonly string[];
  readonly tools: readonly Tool[];
}

/** Returns the forms in which a person can write the name of a tool: alone, and after a name of its server. */
function spellingsOf(name: string, servers: readonly string[]): string[] {
  return [name, ...servers.flatMap((server) => [":", "__", "/"].map((mark) => server + mark + name))];
}

/** Returns the tool with a name in one of its spellings. A tool that has exactly this name has precedence. */
export function toolNamed(name: string, { servers, tools }: NamedTools): Tool | undefined {
  const exact = tools.find((tool) => tool.name === name);
  return exact ?? tools.find((tool) => spellingsOf(tool.name, servers).includes(name));
}

/** Returns a hint for an unknown name of a tool: the one that was probably meant, or all names. */
export function similarTool(name: string, { servers, tools }: NamedTools): string {
  const names = tools.map((tool) => tool.name);
  const spellings = names.flatMap((one) => spellingsOf(one, servers));
  const isShortForm = nearest(name, names) !== undefined || nearest(name, spellings) === undefined;
  return didYouMean(name, isShortForm ? names : spellings);
}

/** Whether a pattern of `--allow` matches a tool in one of the spellings of its name. */
export function isAllowed(pattern: string, { name }: Tool, servers: readonly string[]): boolean {
  return spellingsOf(name, servers).some((spelling) => matchesGlob(pattern, spelling));
}

/** Returns a sentence for each pattern of `--allow` that matches no tool, with a similar name. */
export function unmatchedPatterns(patterns: readonly string[], named: NamedTools): string[] {
  return patterns
    .filter((pattern) => !named.tools.some((tool) => isAllowed(pattern, tool, named.servers)))
    .map((pattern) => `--allow ${JSON.stringify(pattern)} matches no tool. ${similarTool(pattern, named)}`);
}
