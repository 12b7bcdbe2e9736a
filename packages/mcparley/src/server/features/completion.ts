import { invalidParams } from "../../rpc/errors.ts";
import { type JsonObject, isList } from "../../rpc/messages.ts";
import { type CompleteParams, type CompleteResult, maxCompletions, readCompleteParams } from "../../mcp/completion.ts";
import type { ServerCore } from "../core/server-core.ts";
import type { Call } from "../core/call.ts";
import type { CompletionHandler, Completions, Prompt, Resource } from "../core/definition-types.ts";
import type { Entry } from "../core/registry.ts";
import { requireScopes } from "../core/scopes.ts";

/** Answers `completion/complete`. An argument that has no suggestions is completed with none. */
export async function complete(call: Call): Promise<JsonObject> {
  const { core, revision, principal } = call;
  // On a revision that does not define `context`, it is ignored like any other unknown member.
  const supportedParams = revision.completionContext ? call.params : { ...call.params, context: undefined };
  const params = readCompleteParams(supportedParams, core.limits.completionLength);
  const { entry, source } = find(core, params);
  requireScopes(entry.definition.scopes, principal);

  const { value } = params.argument;
  const suggestions = typeof source === "function" ? await source(value, params.context) : startingWith(value, source);
  const all: Exclude<Completions, readonly string[]> = isList(suggestions) ? { values: suggestions } : suggestions;
  const values = all.values.slice(0, maxCompletions);
  const total = all.total ?? all.values.length;
  const completion: CompleteResult["completion"] = { values, total, hasMore: all.hasMore ?? total > values.length };
  return { completion };
}

/** The lower-case form of each list of candidates, so that it is made once for a definition and not for each request. */
const lowerCaseLists = new WeakMap<readonly string[], readonly string[]>();

function startingWith(prefix: string, candidates: readonly string[] = []): readonly string[] {
  const start = prefix.toLowerCase();
  let lower = lowerCaseLists.get(candidates);
  if (lower?.length !== candidates.length) {
    lower = candidates.map((candidate) => candidate.toLowerCase());
    lowerCaseLists.set(candidates, lower);
  }
  return candidates.filter((_, index) => lower[index]!.startsWith(start));
}

interface Found {
  entry: Entry<Prompt | Resource>;
  source: CompletionHandler | readonly string[] | undefined;
}

/** Finds the prompt or resource of a request, and the suggestions for its argument. Throws -32602 if there is none. */
function find(core: ServerCore, { ref, argument: { name } }: CompleteParams): Found {
  if (ref.type === "ref/prompt") {
    const entry = core.offering.prompts.entry(ref.name);
    if (!entry) throw invalidParams(`Unknown prompt: ${ref.name.slice(0, 200)}`);
    const { arguments: args } = entry;
    if (!args.listed.some((argument) => argument.name === name))
      throw invalidParams(`The prompt ${ref.name} has no argument "${name.slice(0, 200)}".`);
    return { entry, source: args.suggestions.get(name) };
  }
  const entry = core.offering.resourceIndex?.findReferenced(ref.uri);
  if (!entry) throw invalidParams(`Unknown resource template: ${ref.uri.slice(0, 200)}`);
  if (entry.template && !entry.template.variables.includes(name)) {
    throw invalidParams(`The template ${entry.definition.uri} has no variable "${name.slice(0, 200)}".`);
  }
  const sources = entry.definition.complete;
  return { entry, source: sources && Object.hasOwn(sources, name) ? sources[name] : undefined };
}
