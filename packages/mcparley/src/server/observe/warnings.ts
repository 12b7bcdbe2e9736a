import type { ServerCore } from "../core/server-core.ts";
import type { Entry, PreparedRegistry } from "../core/registry.ts";

/**
 * Warns of tools whose names the specification allows and large model providers refuse: those that exist, and later ones. Tools
 * that are defined together cause one warning.
 */
export function warnOfNames(core: ServerCore): void {
  const { tools } = core.offering;
  let names: string[] = [];
  const warn = (): void => {
    const rule = 'Names of 1 to 64 letters, digits, "_" and "-" work everywhere.';
    core.warn(`Some model providers refuse the names of these tools: ${enumerate(names, 5)}. ${rule}`);
    names = [];
  };
  const check = (name: string): void => {
    const isPortable = name.length <= 64 && !name.includes(".");
    if (isPortable) return;
    if (names.length === 0) setTimeout(warn, 0);
    names.push(name);
  };
  for (const [name] of tools) check(name);
  tools.onChange((entry, previous) => entry && !previous && check(entry.name));
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

/** Returns the definitions that need scopes, such as `tool "remove"`. */
function hiddenNames({ offering, extensions }: ServerCore): string[] {
  const definitions = [...offering.tools, ...offering.prompts, ...offering.resources];
  const scopedDefinitions = definitions.filter(([, definition]) => needsScopes(definition));
  const names = scopedDefinitions.map(([name, { kind }]) => `${kind} "${name}"`);
  return [...names, ...extensions.flatMap((extension) => [...(extension.scopedNames?.() ?? [])])];
}
