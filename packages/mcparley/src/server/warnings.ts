import { type JsonObject, isObject } from "../rpc/messages.ts";
import type { ServerCore } from "./core.ts";
import { warnOnConsole } from "./observe/to-console.ts";
import type { Entry, PreparedRegistry } from "./registry.ts";

/** Maximum number of different warnings of one server. */
const maxWarnings = 100;

/** The warnings that were given, by server. */
const warned = new WeakMap<ServerCore, Set<string>>();

/** Passes a warning about a server to its `onWarning`, or writes it to the console. Does so once for each text. */
function warn(core: ServerCore, text: string): void {
  const known = warned.get(core) ?? new Set();
  warned.set(core, known);
  if (known.has(text) || known.size >= maxWarnings) return;
  known.add(text);
  const { onWarning } = core.definition;
  if (onWarning) onWarning(text);
  else warnOnConsole(text);
}

/** The tools to warn of, until the end of the turn. */
const unusualNames = new WeakMap<ServerCore, string[]>();

/** Warns of a tool whose name model providers refuse. Tools that are defined together cause one warning. */
export function warnOfTool(core: ServerCore, name: string): void {
  const names = unusualNames.get(core);
  if (names) return void names.push(name);
  const first = [name];
  unusualNames.set(core, first);
  setTimeout(() => {
    unusualNames.delete(core);
    const rule = 'Names of 1 to 64 letters, digits, "_" and "-" work everywhere.';
    warn(core, `Some model providers refuse the names of these tools: ${enumerate(first, 5)}. ${rule}`);
  }, 0);
}

/** The servers whose definitions are checked for scopes. */
const servedToAnyone = new WeakSet<ServerCore>();

/**
 * Warns of definitions that need scopes, once for each server: those that exist, or the first one that is added later.
 * Called when a server is served to callers without credentials over a transport that verifies none.
 */
export function warnOfHidden(core: ServerCore, cure: string): void {
  if (servedToAnyone.has(core)) return;
  servedToAnyone.add(core);
  let isWarned = false;
  const check = (): void => {
    const names = isWarned ? [] : hiddenNames(core);
    if (names.length === 0) return;
    isWarned = true;
    const fact = "Callers without a principal cannot see or use definitions that need scopes";
    warn(core, `${fact}: ${enumerate(names, 10)}. ${cure}`);
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

function enumerate(names: readonly string[], max: number): string {
  const more = names.length > max ? ` and ${names.length - max} more` : "";
  return names.slice(0, max).join(", ") + more;
}

const secretName =
  /(^|_)(password|passwd|passphrase|passcode|pin|secret|token|otp|cvv|cvc|api_?key|access_?key|private_?key|(credit_?)?card_?number)($|_)/;

/** Warns of fields of a form whose names or formats are those of secrets (client/elicitation, User Interaction Model). */
export function warnOfSecrets(core: ServerCore, { properties }: JsonObject): void {
  if (!isObject(properties)) return;
  for (const [name, field] of Object.entries(properties)) {
    const words = name
      .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
      .replaceAll(/[^a-z\d]+/gi, "_")
      .toLowerCase();
    const isSecret = (isObject(field) && field.format === "password") || secretName.test(words);
    if (!isSecret) continue;
    const cure = "Forms must not ask for secrets. Send the user to a page instead: ctx.elicit({ message, url }).";
    warn(core, `A form asks for "${name.slice(0, 80)}". ${cure}`);
  }
}
