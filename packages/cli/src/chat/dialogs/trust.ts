import type { ServerIdentity, TrustAnswer, TrustRequest } from "@mcparley/host";
import { printable } from "mcparley";
import { highlightHost } from "../../client/questions/ask-url.ts";
import type { Talk } from "../../client/questions/choose.ts";
import { excerpt, ownLines, quoted, row } from "../../client/questions/server-text.ts";
import type { View } from "../../client/screen.ts";
import { visibleLine } from "../../client/terminal-text.ts";
import { chooseOrView, heading, present, remarkLines, stack } from "./dialog.ts";

/** Asks whether a server may be started or connected to. */
export async function askTrust(
  { server, identity, previous, remarks }: TrustRequest,
  talk: Talk,
): Promise<TrustAnswer> {
  const { view } = talk;
  const isProgram = identity.kind === "command";
  const facts = factsOf(identity, view).flatMap(({ label, shown }) => row(label, shown, view));
  const changes = previous ? changesSince(previous, identity, view) : [];
  const shown = stack(
    heading(`${isProgram ? "Start" : "Connect to"} the server ${quoted(server)}?`, view),
    ownLines(consequence[identity.kind], view),
    excerpt(facts, view),
    excerpt(changes, view),
    remarkLines(remarks, view),
    ownLines(view.style.dim("A yes is remembered until one of these facts changes."), view),
  );
  present(shown, talk);
  const prompt = `${isProgram ? "Start it" : "Connect"}? [y]es, [n]o${shown.isCut ? ", [v]iew" : ""}? `;
  const all = (): string[] => [...facts, ...changes];
  const action = await chooseOrView({ prompt, keys: { y: "trust", n: "deny" } as const, all }, talk);
  return { action };
}

const consequence: Readonly<Record<ServerIdentity["kind"], string>> = {
  command: "It is a program on this computer, and can do everything that you can do.",
  url: "It is a server at a URL. It receives what the model and you send to it.",
  "in-process": "It is a part of this program.",
};

interface Fact {
  readonly label: string;
  /** The fact, safe to show. It can be styled. */
  readonly shown: string;
}

function factsOf(identity: ServerIdentity, view: View): Fact[] {
  const { command, executable, cwd, environment = [], url, name, headers = [] } = identity;
  const facts: [string, string | undefined][] = [
    ["Command", command?.map(shellWord).join(" ")],
    ["Executable", command && (executable === undefined ? "not found" : shellWord(executable))],
    ["Folder", cwd === undefined ? undefined : shellWord(cwd)],
    ["Variables", namesOf(environment)],
    ["URL", url === undefined ? undefined : highlightHost(url, view.style)],
    ["Host", url === undefined ? undefined : hostOf(url, view)],
    ["Headers", namesOf(headers)],
    ["Name", name === undefined ? undefined : visibleLine(name)],
  ];
  return facts.flatMap(([label, shown]) => (shown === undefined ? [] : { label, shown }));
}

function hostOf(url: string, { style }: View): string | undefined {
  return URL.canParse(url) ? style.bold(visibleLine(new URL(url).host)) : undefined;
}

/** Returns names of variables or headers. Their values are not known here. */
function namesOf(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `${names.map(shellWord).join(", ")} (values are not shown)`;
}

/** Returns the facts of the identity that was trusted before, if they differ. */
function changesSince(previous: ServerIdentity, identity: ServerIdentity, view: View): string[] {
  const now = new Map(factsOf(identity, view).map(({ label, shown }) => [label, shown]));
  const before = new Map(factsOf(previous, view).map(({ label, shown }) => [label, shown]));
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter(
    (label) => before.get(label) !== now.get(label),
  );
  if (changed.length === 0) {
    return [view.style.yellow("You trusted this name before. The difference is in a part that is not shown.")];
  }
  const rows = changed.flatMap((label) => row(label, before.get(label) ?? "none", view));
  return [view.style.yellow("You trusted this name before. These facts were different:"), ...rows];
}

/**
 * Returns a word as a POSIX shell reads it, so that its end and each of its characters are visible. A word with control,
 * invisible or other white-space characters is written as `$'...'` with escapes.
 */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  const isPlain = printable(word) === word && !/[^\S ]|\u2800/.test(word);
  if (isPlain) return `'${word.replaceAll("'", String.raw`'\''`)}'`;
  const escaped = Array.from(word, (character) => {
    if (character === "'" || character === "\\") return `\\${character}`;
    const isSafe = printable(character) === character && !/[^\S ]|\u2800/.test(character);
    return isSafe ? character : escapeOf(character);
  });
  return `$'${escaped.join("")}'`;
}

function escapeOf(character: string): string {
  const simple = new Map([
    ["\n", String.raw`\n`],
    ["\t", String.raw`\t`],
    ["\r", String.raw`\r`],
  ]).get(character);
  if (simple !== undefined) return simple;
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
}
