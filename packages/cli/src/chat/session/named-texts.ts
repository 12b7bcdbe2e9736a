import type { Awaitable } from "@mcparley/host";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { type CommandIo, UsageError } from "../../terminal/io.ts";
import { readText } from "../../terminal/read-text.ts";
import { visibleLine } from "../../terminal/text.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { type MessageNames, formsOf, otherNames, unescapeMentions } from "./mentions.ts";

/** A text that becomes a part of a message. */
export interface NamedText {
  /** The word of the message that names it, such as `@notes.md`. Undefined if no word does. */
  readonly word: string | undefined;
  /** The name for the model and for errors, such as `the file notes.md`. */
  readonly name: string;
  readonly text: string;
}

/** Maximum size of one text in a message. The contexts of models are not larger. */
const maxBytes = 4 * 1024 ** 2;

/** The word of a message that names stdin. */
export const stdinWord = "@-";

interface Sources {
  readonly names: MessageNames;
  readonly io: Pick<CommandIo, "cwd" | "env">;
  /** Returns the text of stdin. */
  readonly stdin: () => Awaitable<NamedText>;
  /** Called for a word with an `@` that names nothing. It throws the error, or shows it if the word is sent as text. */
  readonly onUnknown: (error: UsageError) => unknown;
  readonly signal: AbortSignal;
}

/**
 * Reads the texts that a message names: `@FILE`, `@<FILE>` for a name with spaces, and `@-` for stdin. Texts that are read are not searched
 * for further names. Rejects with a `UsageError` for a folder, and for a file that is too large, is no text, or cannot be read.
 */
export async function readNamedTexts(message: string, sources: Sources): Promise<NamedText[]> {
  const { names, io, stdin, onUnknown, signal } = sources;
  const texts: NamedText[] = [];
  for (const name of otherNames(message, names)) {
    const forms = formsOf(name);
    const namedText = forms.includes("-") ? await stdin() : await readFirst(forms, io, signal);
    if (namedText) texts.push(namedText);
    else if (forms.length > 0) onUnknown(unknownName(forms.at(-1) ?? name, names));
  }
  return texts;
}

/**
 * Returns the message of the user: what was written, and then each text with its name. A message that is only the name of a text becomes
 * this text.
 */
export function messageWith(message: string, texts: readonly NamedText[]): string {
  const wholeText = texts.find(
    ({ word }) => word !== undefined && word === message.trim().replace(/^@<(.*)>$/s, "@$1"),
  );
  if (wholeText && wholeText.text.trim() === "")
    throw new UsageError(`${capitalize(wholeText.name)} is empty.`, "Write the message there.");
  const parts = texts.filter((text) => text !== wholeText).map(withLabel);
  return [wholeText ? wholeText.text.trimEnd() : unescapeMentions(message), ...parts].join("\n\n");
}

/** Returns a text with its name, between fences that it cannot close. */
function withLabel({ name, text }: NamedText): string {
  if (text.trim() === "") return `${capitalize(name)} is empty.`;
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = "`".repeat(longest + 1);
  return `Text of ${name}:\n${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}

/** Reads the first file that exists. */
async function readFirst(
  names: readonly string[],
  { cwd, env }: Sources["io"],
  signal: AbortSignal,
): Promise<NamedText | undefined> {
  for (const name of names) {
    // The shell does not expand the sign within a message.
    const isInHome = env.HOME !== undefined && /^~[/\\]/.test(name);
    const file = isInHome ? path.join(env.HOME ?? "", name.slice(2)) : path.resolve(cwd, name);
    if (!(await isFile(file, name))) continue;
    return { word: `@${name}`, ...(await readFrom(createReadStream(file, { signal }), `the file ${name}`)) };
  }
  return undefined;
}

/** Returns whether there is something to read. Throws a `UsageError` for a folder. */
async function isFile(file: string, name: string): Promise<boolean> {
  const stats = await stat(file).catch(() => undefined);
  if (!stats?.isDirectory()) return stats !== undefined;
  throw new UsageError(
    `${visibleLine(name)} is a folder, and a message can contain files only.`,
    `Name a file in it, such as @${visibleLine(path.join(name, "FILE"))}, or write \\@ for text.`,
  );
}

/** Reads a stream as text with Unix line ends. Rejects with a `UsageError` if it cannot be a part of a message. */
export async function readFrom(
  stream: Parameters<typeof readText>[0],
  name: string,
): Promise<Pick<NamedText, "name" | "text">> {
  const title = visibleLine(capitalize(name));
  const source = {
    name: title,
    cure: "A message can contain UTF-8 text only. Convert it, such as with iconv -f UTF-16 -t UTF-8.",
    maxBytes,
    sizeCure: "Send a part of it, such as with head -c 1000000.",
  };
  try {
    const text = await readText(stream, source);
    if (text.includes("\0")) throw new UsageError(`${title} is binary data.`, "A message can contain UTF-8 text only.");
    return { name: visibleLine(name), text: text.replaceAll("\r\n", "\n") };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof UsageError || code === undefined || code === "ABORT_ERR") throw error;
    throw new UsageError(`${title} cannot be read: ${visibleLine(message)}`);
  }
}

function unknownName(name: string, { servers }: MessageNames): UsageError {
  const word = `@${visibleLine(name)}`;
  const [, server] = /^([^:/\\]+):./.exec(name) ?? [];
  if (server === undefined || servers.has(server)) {
    return new UsageError(
      `${JSON.stringify(word)} names no resource of a server, and no file.`,
      `A resource is @SERVER:URI, and a file is @FILE. Write \\${word} if it is text.`,
    );
  }
  return new UsageError(
    `${JSON.stringify(word)} names no resource: there is no server ${JSON.stringify(server)}.`,
    `${didYouMean(server, servers.keys())} Write \\${word} if it is text.`,
  );
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
