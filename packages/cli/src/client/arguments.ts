import { UsageError } from "./io.ts";

/** One `key=value` of the command line, its file or stdin already read. */
export interface Given {
  readonly key: string;
  /** `text` was written as `key=`, `json` as `key:=`. */
  readonly form: "text" | "json";
  readonly value: unknown;
}

/** Where `@file` and `@-` are read from; both give text. */
export interface Sources {
  file(path: string): Promise<string>;
  stdin(): Promise<string>;
}

/**
 * Reads `key=text`, `key:=json`, `key=@file`, `key:=@file.json`, and `@-` for stdin.
 *
 * A key is everything before the first `=`, dots included: nothing is nested by it. Keys stay in their order and may
 * come again; whether that makes an array is for the schema to say.
 */
export async function readArguments(words: readonly string[], sources: Sources): Promise<Given[]> {
  if (words.filter((word) => /^[^=]+=@-$/s.test(word)).length > 1) {
    throw new UsageError("stdin can be read once: only one argument may be @-.");
  }
  const given: Given[] = [];
  for (const word of words) given.push(await readArgument(word, sources));
  return given;
}

async function readArgument(word: string, sources: Sources): Promise<Given> {
  const [, key, colon, raw] = /^(?!:=)([^=]+?)(:?)=(.*)$/s.exec(word) ?? [];
  if (key === undefined || raw === undefined) throw notAnArgument(word);
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
    throw new UsageError(
      `"${word}" names no file after the @.`,
      `For a text that begins with @ write it as JSON: ${word.slice(0, word.indexOf("="))}:='"@..."'`,
    );
  }
  return path === "-" ? sources.stdin() : sources.file(path);
}

function notAnArgument(word: string): UsageError {
  return new UsageError(
    `${JSON.stringify(word)} is not an argument.`,
    "Arguments are key=text, key:=json, key=@file or key=@- for stdin.",
  );
}
