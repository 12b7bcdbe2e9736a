import { type JsonObject, isObject } from "../rpc/messages.ts";
import type { ServerCore } from "./core.ts";
import { warnOnConsole } from "./observe/to-console.ts";

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

/** Warns of definitions with scopes that callers without a principal cannot use. */
export function warnOfHidden(core: ServerCore, names: readonly string[], cure: string): void {
  const fact = "Callers without a principal cannot see or use definitions that need scopes";
  warn(core, `${fact}: ${enumerate(names, 10)}. ${cure}`);
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
