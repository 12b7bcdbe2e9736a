import { isTable } from "../formats/format.ts";
import type { ServerTarget } from "../model.ts";
import { type ConfigValue, formatValue, partsOf } from "../values.ts";
import { InvalidEntry, readEntry } from "./entry-reader.ts";
import { type HostRules, UnsupportedTarget } from "./host.ts";

/** The cures for members of a target that a host does not have. */
const missingMemberCures = {
  cwd: "Leave it out, or start a script that changes the folder.",
  revision: "Leave it out: the host negotiates the revision.",
  envFile: "Name the variables in its environment, or start a script that reads the file.",
};

/**
 * Returns the members of an entry for a target.
 *
 * Throws `UnsupportedTarget` if the host cannot express the target. The entry is read again and compared: a literal text such as
 * `a${b}` would become a reference.
 */
export function membersOf(rules: HostRules, target: ServerTarget): Readonly<Record<string, unknown>> {
  const transport = target.kind === "command" ? "stdio" : target.transport;
  if (!rules.transports.includes(transport)) {
    throw new UnsupportedTarget(
      `The host does not support ${transport}.`,
      `It supports ${rules.transports.join(", ")}.`,
    );
  }
  const memberValues = { revision: target.revision, ...(target.kind === "command" && target) };
  for (const member of ["cwd", "envFile", "revision"] as const) {
    if (memberValues[member] !== undefined && !rules.members.includes(member)) {
      throw new UnsupportedTarget(`The host has no member for "${member}".`, missingMemberCures[member]);
    }
  }
  const members = Object.fromEntries(Object.entries(rules.write(target)).filter(([, member]) => member !== undefined));
  if (!isDescribedBy(rules, members, target)) {
    throw new UnsupportedTarget(
      "The host would read a value of the target differently.",
      "A literal value must not have the form of a reference, and a URL must be one of http or https.",
    );
  }
  return members;
}

function isDescribedBy(rules: HostRules, members: object, target: ServerTarget): boolean {
  try {
    const read = rules.read(readEntry(members, rules.syntax));
    return isTable(read) && JSON.stringify(comparable(read)) === JSON.stringify(comparable(target));
  } catch (error) {
    if (error instanceof InvalidEntry) return false;
    throw error;
  }
}

/** Returns the values of a target in one form. Hosts that detect the transport do not write it. */
function comparable(target: ServerTarget): unknown {
  if (target.kind === "url")
    return [normalizeValue(target.url), sortedValues(target.headers, (name) => name.toLowerCase()), target.revision];
  const { command, args, env, cwd, envFile, revision } = target;
  return [
    revision,
    normalizeValue(command),
    args.map(normalizeValue),
    sortedValues(env, (name) => name),
    cwd && normalizeValue(cwd),
    envFile && normalizeValue(envFile),
  ];
}

/** Marks the references, so that a literal text that looks like one differs. */
function normalizeValue(value: ConfigValue): string {
  const parts = partsOf(value);
  return parts.map((part) => (typeof part === "string" ? part : `\u0000${formatValue([part])}\u0000`)).join("");
}

function sortedValues(table: ReadonlyMap<string, ConfigValue>, keyOf: (name: string) => string): [string, string][] {
  const entries = [...table].map(([name, value]): [string, string] => [keyOf(name), normalizeValue(value)]);
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
}
