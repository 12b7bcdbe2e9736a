import type { EntryIdentity } from "@mcparley/config";
import { hasReference, safeUrl, shownValue, shownVariable, shownWords } from "@mcparley/internal/secret-values";
import { printable } from "mcparley";
import { hasSimilarLetters, highlightHost } from "../terminal/questions/ask-url.ts";
import type { Talk } from "../terminal/questions/choose.ts";
import { chooseOrView, heading, present, remarkLines, stack } from "../terminal/questions/dialog.ts";
import { excerpt, ownLines, quoteName, remarkOnName, row } from "../terminal/questions/server-text.ts";
import type { View } from "../terminal/screen.ts";

/** A server of a configuration file that the user has not trusted. */
export interface TrustQuestion {
  readonly name: string;
  readonly entry: EntryIdentity;
  /** Whether another entry with this name was trusted in the file. */
  readonly hasChanged: boolean;
}

/** Asks whether a server of a configuration file may be started or connected to. Shows everything that its entry says. */
export async function askTrust({ name, entry, hasChanged }: TrustQuestion, talk: Talk): Promise<boolean> {
  const { view } = talk;
  const isProgram = entry.kind === "command";
  const facts = factsOf(entry, view).flatMap(([label, text]) => row(label, text, view));
  const changeRemarks = hasChanged
    ? [`You trusted a server ${quoteName(name)} of this file before. Its entry has changed.`]
    : [];
  const url = parseUrl(entry.url);
  const similar = url && hasSimilarLetters(url) ? ["The host has letters that can look like other letters."] : [];
  const nameRemark = remarkOnName(name);
  const question = stack(
    heading(`${isProgram ? "Start" : "Connect to"} the server ${quoteName(name)}?`, view),
    isProgram ? programRisks.flatMap((risk) => ownLines(risk, view)) : ownLines(urlRisk, view),
    excerpt(facts, view),
    remarkLines([...changeRemarks, ...(nameRemark === undefined ? [] : [nameRemark]), ...similar], view),
    ownLines(view.style.dim("A yes is remembered until something in this entry changes."), view),
  );
  present(question, talk);
  const prompt = `${isProgram ? "Start it" : "Connect"}? [y]es, [n]o${question.isCut ? ", [v]iew" : ""}? `;
  return chooseOrView({ prompt, keys: { y: true, n: false }, all: () => facts }, talk);
}

const programRisks = [
  "It is a program on this computer, and can do everything that you can do.",
  "The files that it runs, such as those of its folder, can change without another question.",
];
const urlRisk = "It is a server at a URL. It receives what the model and you send to it.";

type Fact = readonly [label: string, text: string];

/** Returns the facts of an entry, safe to show. They can be styled. */
function factsOf(entry: EntryIdentity, view: View): Fact[] {
  const { file, command, executable, cwd, environment, envFile, url, headers, sends } = entry;
  return [
    ["File", shellWord(file)],
    ...factOf("Command", command && shownWords(command).map(shellWord).join(" ")),
    ...factOf("Executable", executable && shellWord(executable)),
    ...factOf("Folder", cwd && shellWord(cwd)),
    ...factOf("Variables of", envFile && shellWord(envFile)),
    ...valueFacts(environment, (name, value) => ["Variable", `${shellWord(name)}=`, shownVariable(name, value)]),
    ...factOf("URL", url && highlightHost(safeUrl(parseUrl(url)?.href ?? url), view.style)),
    ...valueFacts(headers, (name, value) => ["Header", `${shellWord(name)}: `, shownValue(name, value)]),
    ...factOf("Receives", sends.length > 0 ? `your values of ${sends.map(shellWord).join(", ")}` : undefined),
  ];
}

function factOf(label: string, text: string | undefined): Fact[] {
  return text === undefined ? [] : [[label, text]];
}

/** Returns a URL as it is requested, in which each host has one form. Undefined if a reference can be a part of the host. */
function parseUrl(url: string | undefined): URL | undefined {
  return url !== undefined && URL.canParse(url) && !hasReference(url) ? new URL(url) : undefined;
}

function valueFacts(
  table: Readonly<Record<string, string>> = {},
  show: (name: string, value: string) => readonly [label: string, start: string, text: string],
): Fact[] {
  return Object.entries(table).map(([name, value]) => {
    const [label, start, text] = show(name, value);
    return [label, start + (text === value ? shellWord(text) : text)];
  });
}

/**
 * Returns a word as a POSIX shell reads it, so that its end and each of its characters are visible. A word with control,
 * invisible or other white-space characters is written as `$'...'` with escapes.
 */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  const isPlain = printable(word) === word && !/[^\S ]|\u2800/.test(word);
  if (isPlain) return `'${word.replaceAll("'", String.raw`'\''`)}'`;
  const escapedCharacters = Array.from(word, (character) => {
    if (character === "'" || character === "\\") return `\\${character}`;
    const isSafe = printable(character) === character && !/[^\S ]|\u2800/.test(character);
    return isSafe ? character : escapeOf(character);
  });
  return `$'${escapedCharacters.join("")}'`;
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
