import { isObject } from "@mcparley/internal/is-object";
import { hasReference, isSecretName, safeWords, withSafeUrls } from "@mcparley/internal/secret-values";
import { type ConfigPlan, changedLines, hosts, readServers } from "@mcparley/config";
import { printable, redact } from "mcparley";
import type { View } from "../../terminal/screen.ts";
import { cut, visibleLine } from "../../terminal/text.ts";
import type { Machine } from "../../targets/config-file.ts";

/** A change of a file as it is shown, without the secrets of the file. */
export interface ShownChange {
  readonly line: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** Maximum number of columns of a shown line. */
const widest = 400;

/** Returns the lines of a plan in which the literal secrets of the file are replaced by `***`. */
export function shownChange(plan: ConfigPlan, machine: Machine): ShownChange {
  const { line, removed, added } = changedLines(plan);
  const secrets = secretsOf(plan, machine);
  const safe = (text: string): string => {
    const maskedText = secrets.reduce((safeText, [secret, shown]) => safeText.replaceAll(secret, shown), text);
    return cut(printable(redact(withSafeUrls(maskedText))), widest);
  };
  // A new file ends with a line break, after which there is no line.
  const lines = plan.before === undefined && added.at(-1) === "" ? added.slice(0, -1) : added;
  return { line, removed: removed.map(safe), added: lines.map(safe) };
}

/** A text of a file, and the text that is shown in its place. */
type Replacement = readonly [text: string, shown: string];

/** Returns the secrets of all entries of a file, also of invalid ones, the longest first. */
function secretsOf({ file }: ConfigPlan, { cwd, env, platform }: Machine): Replacement[] {
  const { servers } = readServers({ folder: cwd, env, ...(platform && { platform }) });
  return servers
    .filter((server) => server.file === file)
    .flatMap((server) => secretsIn(server.rawEntry()))
    .flatMap(([text, shown]): Replacement[] => {
      const quoted = JSON.stringify(text);
      // A short text can be a part of other words.
      if (text.length < 6) return [[quoted, JSON.stringify(shown)]];
      return [text, quoted.slice(1, -1)].map((form) => [form, shown]);
    })
    .toSorted(([first], [second]) => second.length - first.length);
}

/** The tables of variables and headers, by the names that hosts give them. */
const tableNames: ReadonlySet<string> = new Set(["env", "envs", "environment", "headers", "http_headers"]);

/** Returns the secrets of a value of an entry: all literal values of variables and headers, and those that look like a secret elsewhere. */
function secretsIn(value: unknown, isHidden = false): Replacement[] {
  if (typeof value === "string") return isHidden && value !== "" && !hasReference(value) ? [[value, "***"]] : [];
  if (Array.isArray(value)) {
    const words = value.map((word) => (typeof word === "string" ? word : ""));
    return safeWords(words).flatMap((shown, index) => (shown === words[index] ? [] : [[words[index]!, shown]]));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    secretsIn(member, isHidden || tableNames.has(name) || isSecretName(name)),
  );
}

const verbs = { add: "Add", update: "Replace", remove: "Remove" } as const;

/** Returns a plan as lines of text: the file and its changed lines with - and +. */
export function describeChange(plan: ConfigPlan, change: ShownChange, { style }: View): string {
  const { action, name, host, scope, file, before } = plan;
  const title = hosts.find(({ id }) => id === host)?.title ?? host;
  const what = `${verbs[action]} ${JSON.stringify(name)} ${action === "remove" ? "from" : "in"} ${title} (${scope})`;
  const place = before === undefined ? `${file} (new file)` : `${file}:${change.line}`;
  return [
    style.bold(visibleLine(`${what}: ${place}`)),
    ...change.removed.map((line) => style.red(`- ${line}`)),
    ...change.added.map((line) => `+ ${line}`),
  ].join("\n");
}
