import type { Catalogue, CatalogueTool, Rule } from "@mcparley/host";
import { matchesGlob } from "@mcparley/internal/glob";
import { didYouMean, nearest } from "../../terminal/did-you-mean.ts";

/** Returns the names that a person can type for a tool: that for the model, with the server in three forms, and its own name. */
function spellingsOf({ name, server, tool }: Pick<CatalogueTool, "name" | "server" | "tool">): readonly string[] {
  return [name, `${server}:${tool.name}`, `${server}__${tool.name}`, `${server}/${tool.name}`, tool.name];
}

/** Returns the tools with a name in one of its spellings. One that has it as its name for the model is the only one. */
export function toolsNamed(name: string, { tool, tools }: Catalogue): readonly CatalogueTool[] {
  const exact = tool(name);
  return exact ? [exact] : tools.filter((entry) => spellingsOf(entry).includes(name));
}

/** Returns a hint for an unknown name of a tool: the one that was probably meant, or all names. */
export function similarTool(name: string, { tools }: Catalogue): string {
  const similar = nearest(name, tools.flatMap(spellingsOf));
  if (similar !== undefined) return `Did you mean "${similar}"?`;
  return didYouMean(
    name,
    tools.map((tool) => tool.name),
  );
}

/**
 * Returns the rules of the patterns of `--allow`: names of tools in each spelling, in which `*` stands for any characters. The catalogue has
 * the names for the model that do not contain those of the server and the tool.
 */
export function allowRules(patterns: readonly string[], catalogue: Catalogue | undefined): Rule[] {
  return patterns.flatMap((pattern) => {
    const entry = catalogue?.tool(pattern);
    const isPlain = entry && !`${entry.server}${entry.tool.name}`.includes("*");
    return [...rulesOf(pattern), ...(isPlain ? [allowed(entry.server, entry.tool.name)] : [])];
  });
}

function rulesOf(pattern: string): Rule[] {
  // A colon always separates the server. Otherwise a server could name its tool like that of another one.
  const colonRule = splitRule(pattern, ":");
  if (colonRule) return [colonRule];
  return [{ decision: "allow", tool: pattern }, ...["__", "/"].flatMap((mark) => splitRule(pattern, mark) ?? [])];
}

function splitRule(pattern: string, mark: string): Rule | undefined {
  const index = pattern.indexOf(mark);
  const tool = pattern.slice(index + mark.length);
  return index < 1 || tool === "" ? undefined : allowed(pattern.slice(0, index), tool);
}

function allowed(server: string, tool: string): Rule {
  return { decision: "allow", server, tool };
}

/** Returns a sentence for each pattern of `--allow` that matches no tool, with a similar name. */
export function unmatchedPatterns(patterns: readonly string[], catalogue: Catalogue): string[] {
  const isMatched = (pattern: string): boolean =>
    allowRules([pattern], catalogue).some(({ server = "*", tool = "*" }) =>
      catalogue.tools.some((entry) => matchesGlob(server, entry.server) && matchesGlob(tool, entry.tool.name)),
    );
  return patterns
    .filter((pattern) => !isMatched(pattern))
    .map((pattern) => `--allow ${JSON.stringify(pattern)} matches no tool. ${similarTool(pattern, catalogue)}`);
}
