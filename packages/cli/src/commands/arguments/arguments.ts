import { onAbort } from "@mcparley/internal/abort";
import { resolve } from "node:path";
import type { Prompt } from "mcparley";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { type CommandIo, UsageError } from "../../terminal/io.ts";
import { isObject } from "@mcparley/internal/is-object";
import { readText } from "../../terminal/read-text.ts";
import { openSource } from "./open-source.ts";

/** One `key=value` of the command line, after its file or stdin is read. */
export interface TypedArgument {
  readonly key: string;
  /** `text` was written as `key=`, `json` as `key:=`. */
  readonly form: "text" | "json";
  readonly value: unknown;
}

/** Readers of `@file` and `@-`. Both return text. */
interface Sources {
  file(path: string): Promise<string>;
  stdin(): Promise<string>;
}

/**
 * Reads `key=text`, `key:=json`, `key=@file`, `key:=@file.json`, and `@-` for stdin. One word may be a JSON object with any
 * number of arguments, typed or as `@file.json` or `@-`.
 *
 * A key is everything before the first `=`. Dots in it do not nest. Keys keep their order and may repeat. The schema
 * decides whether a repeated key is an array. `key=value` replaces a member of the JSON object.
 */
export async function readArguments(words: readonly string[], sources: Sources): Promise<TypedArgument[]> {
  if (words.filter((word) => /^(?:[^=]+=)?@-$/s.test(word)).length > 1) {
    throw new UsageError("stdin can be read once: only one argument may be @-.");
  }
  const objects = words.filter(isObjectWord);
  if (objects.length > 1) throw new UsageError("There can be only one JSON object of arguments.");
  const typedArguments: TypedArgument[] = [];
  for (const word of words) if (!isObjectWord(word)) typedArguments.push(await readArgument(word, sources));
  const typedKeys = new Set(typedArguments.map(({ key }) => key));
  const members = objects[0] === undefined ? [] : await readObject(objects[0], sources);
  return [...members.filter(({ key }) => !typedKeys.has(key)), ...typedArguments];
}

/** Whether a word is a JSON object of arguments. A JSON array is included, so that the error names the expected form. */
function isObjectWord(word: string): boolean {
  return /^\s*\{|^\s*\[[^=]*$|^@[^=]*$/s.test(word);
}

async function readObject(word: string, sources: Sources): Promise<TypedArgument[]> {
  const text = word.startsWith("@") ? await readSource(word.slice(1), word, sources) : word;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`The arguments are not JSON: ${(error as Error).message}`, objectForm);
  }
  if (!isObject(value)) throw new UsageError("The arguments must be a JSON object.", objectForm);
  return Object.entries(value).map(([key, member]) => ({ key, form: "json", value: member }));
}

const objectForm = "Write it as '{\"a\": 1}', @arguments.json, or @- for stdin.";

async function readArgument(word: string, sources: Sources): Promise<TypedArgument> {
  const [, key, colon, raw] = /^(?!:=)([^=]+?)(:?)=(.*)$/s.exec(word) ?? [];
  if (key === undefined || raw === undefined) {
    throw new UsageError(
      `${JSON.stringify(word)} is not an argument.`,
      "Arguments are key=text, key:=json, key=@file or key=@- for stdin, or one JSON object.",
    );
  }
  const text = raw.startsWith("@") ? await readSource(raw.slice(1), word, sources) : raw;
  if (colon === "") return { key, form: "text", value: text };
  try {
    return { key, form: "json", value: JSON.parse(text) as unknown };
  } catch (error) {
    throw new UsageError(
      `The value of ${key} is not JSON: ${(error as Error).message}`,
      raw.startsWith("@") ? undefined : `For text write ${key}=${raw}`,
    );
  }
}

async function readSource(path: string, word: string, sources: Sources): Promise<string> {
  if (path === "") {
    const equalsIndex = word.indexOf("=");
    throw new UsageError(
      `"${word}" names no file after the @.`,
      equalsIndex === -1
        ? objectForm
        : `Write text that starts with @ as JSON: ${word.slice(0, equalsIndex)}:='"@..."'`,
    );
  }
  return path === "-" ? sources.stdin() : sources.file(path);
}

/** Maximum size of stdin in bytes. Servers refuse larger arguments. */
const maxBytes = 64 * 1024 * 1024;

const base64Cure = "If the argument accepts base64, encode the file: base64 -w0 FILE | mcparley call ... key=@-";

/** Reads files from the current folder, and stdin, as UTF-8. */
export function sourcesOf(io: CommandIo, signal?: AbortSignal): Sources {
  return {
    file: async (path) => {
      const source = { name: path, cure: base64Cure, maxBytes };
      try {
        return await readText(await openSource(resolve(io.cwd, path), path), source);
      } catch (error) {
        if (error instanceof UsageError) throw error;
        throw new UsageError(`The file ${path} cannot be read: ${(error as Error).message}`);
      }
    },
    async stdin() {
      // A terminal ends stdin only with Ctrl-D.
      const removeListener = onAbort(signal, (reason) => io.stdin.destroy(reason as Error));
      try {
        return await readText(io.stdin, { name: "stdin", cure: base64Cure, maxBytes });
      } finally {
        removeListener();
      }
    },
  };
}

/**
 * Converts typed arguments to the arguments of a prompt, which are all text.
 *
 * Throws `UsageError` for an argument that is not text, occurs twice, is unknown, or is required and missing.
 */
export function promptArguments(prompt: Prompt, args: readonly TypedArgument[]): Record<string, string> {
  const parameters = prompt.arguments ?? [];
  const names = parameters.map(({ name }) => name);
  const values = textArguments(args);
  for (const key of values.keys()) {
    if (names.includes(key)) continue;
    throw new UsageError(`The prompt "${prompt.name}" has no argument ${JSON.stringify(key)}.`, didYouMean(key, names));
  }
  const missing = parameters.filter(({ name, required }) => required && !values.has(name)).map(({ name }) => name);
  if (missing.length > 0) {
    throw new UsageError(
      `The prompt "${prompt.name}" needs ${missing.join(", ")}.`,
      `Add ${missing.map((name) => `${name}=TEXT`).join(" ")}`,
    );
  }
  return Object.fromEntries(values);
}

/** Returns the typed arguments by key. Each must be text and occur once. */
export function textArguments(args: readonly TypedArgument[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const { key, value } of args) {
    if (values.has(key)) throw new UsageError(`${key} is given twice. It accepts one value.`);
    if (typeof value !== "string") {
      throw new UsageError(
        `${key} must be text, because the arguments of a prompt are text.`,
        `Write ${key}=${JSON.stringify(value)}`,
      );
    }
    values.set(key, value);
  }
  return values;
}

/** Throws `UsageError` if there are more words. */
export function requireNoMore(words: readonly string[], what: string): void {
  if (words.length === 0) return;
  throw new UsageError(`${what}. Remove ${words.map((word) => JSON.stringify(word)).join(" ")}.`);
}

/** Returns the word. Throws `UsageError` with the question if it is missing. */
export function requireWord(word: string | undefined, question: string, hint: string): string {
  if (word !== undefined && word !== "") return word;
  throw new UsageError(question, hint);
}
