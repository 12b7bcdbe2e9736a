import type { ServerCore } from "../core/server-core.ts";
import type { Entry, PreparedRegistry } from "../core/registry.ts";

/** The tools that one warning will name, until it is sent. */
const unusualNames = new WeakMap<ServerCore, string[]>();

/** Warns of tools whose names the specification allows and model providers refuse: those that exist, and later ones. */
export function warnOfNames(core: ServerCore): void {
  const { tools } = core.offering;
  for (const [name] of tools) warnOfTool(core, name);
  tools.onChange((entry, previous) => entry && !previous && warnOfTool(core, entry.name));
}

/** Warns of a tool if a large model provider refuses its name. Tools that are defined together cause one warning. */
function warnOfTool(core: ServerCore, name: string): void {
  const isPortable = name.length <= 64 && !name.includes(".");
  if (isPortable) return;
  const names = unusualNames.get(core);
  if (names) return void names.push(name);
  const first = [name];
  unusualNames.set(core, first);
  setTimeout(() => {
    unusualNames.delete(core);
    const rule = 'Names of 1 to 64 letters, digits, "_" and "-" work everywhere.';
    core.warn(`Some model providers refuse the names of these tools: ${enumerate(first, 5)}. ${rule}`);
  }, 0);
}

function enumerate(names: readonly string[], max: number): string {
  const more = names.length > max ? ` and ${names.length - max} more` : "";
  return names.slice(0, max).join(", ") + more;
}

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
    const fact = "Callers without a principal cannot see or use definitions that need scopes";
    core.warn(`${fact}: ${enumerate(names, 10)}. ${cure}`);
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
