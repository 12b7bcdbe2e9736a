import type { ServerCore } from "./core.ts";
import type { Entry, PreparedRegistry } from "./registry.ts";

/** The servers whose definitions are checked for scopes. */
const servedToAnyone = new WeakSet<ServerCore>();

/**
 * Warns of definitions that need scopes, once for each server: those that exist, or the first one that is added later.
 * Called when a server is served to callers without credentials over a transport that verifies none.
 */
export function reportHidden(core: ServerCore, cure: string): void {
  if (servedToAnyone.has(core)) return;
  servedToAnyone.add(core);
  let isWarned = false;
  const check = (): void => {
    const names = isWarned ? [] : hiddenNames(core);
    if (names.length === 0) return;
    isWarned = true;
    // Most servers have no scopes, and their start is quicker with one file less.
    void import("./warnings.ts").then((warnings) => warnings.warnOfHidden(core, names, cure));
  };
  check();
  const { tools, prompts, resources } = core.offering;
  for (const registry of [tools, prompts, resources] as const)
    (registry as PreparedRegistry<any, any>).onChange((entry: Entry<Scoped> | undefined) => {
      if (entry && needsScopes(entry.definition)) check();
    });
}

interface Scoped {
  readonly scopes?: readonly string[] | undefined;
}

function needsScopes({ scopes }: Scoped): boolean {
  return scopes !== undefined && scopes.length > 0;
}

function namesOf(kind: string, definitions: Iterable<[string, Scoped]>): string[] {
  return [...definitions].filter(([, definition]) => needsScopes(definition)).map(([name]) => `${kind} "${name}"`);
}

/** Returns the definitions that need scopes, such as `tool "remove"`. */
function hiddenNames({ offering, extensions }: ServerCore): string[] {
  const { tools, prompts, resources } = offering;
  const ofExtensions = extensions.flatMap((extension) => [...(extension.scopedNames?.() ?? [])]);
  return [...namesOf("tool", tools), ...namesOf("prompt", prompts), ...namesOf("resource", resources), ...ofExtensions];
}
