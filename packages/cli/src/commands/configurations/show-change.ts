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
    const maskedText = secrets.reduce((safeText, secret) => safeText.replaceAll(secret, "***"), text);
    return cut(printable(redact(maskedText)), widest);
  };
  // A new file ends with a line break, after which there is no line.
  const lines = plan.before === undefined && added.at(-1) === "" ? added.slice(0, -1) : added;
  return { line, removed: removed.map(safe), added: lines.map(safe) };
}

/** Returns the literal values of headers and variables of a file, as its text has them. */
function secretsOf({ host, file }: ConfigPlan, { cwd, env, platform }: Machine): string[] {
  const { servers } = readServers({ hosts: [host], folder: cwd, env, ...(platform && { platform }) });
  const values = servers
    .filter((server) => server.file === file)
    .flatMap(({ target }) => (target ? [...(target.kind === "url" ? target.headers : target.env).values()] : []));
  return values
    .filter((value): value is string => typeof value === "string" && value.length >= 6)
    .flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])
    .toSorted((first, second) => second.length - first.length);
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
