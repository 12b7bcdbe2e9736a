import { lstatSync } from "node:fs";
import { join } from "node:path";
import { loadConfigured } from "../../targets/find-target.ts";
import { type CommandIo, UsageError } from "../../terminal/io.ts";
import { isObject } from "@mcparley/internal/is-object";
import { JsonSyntaxError, type ParsedJson, parseJsonWithComments } from "../../terminal/json.ts";
import { configFolder } from "../../terminal/user-folders.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";

/** An export of a package: `@ai-sdk/google-vertex/anthropic#vertexAnthropic`. */
export interface PackageExport {
  /** The name of the package, such as `@ai-sdk/google-vertex`. */
  readonly package: string;
  /** The package with its subpath, as in an import. */
  readonly specifier: string;
  /** The name of the export. */
  readonly export: string;
}

/** The user's settings for the chat, from the file `chat.json` in the configuration folder of the command. */
export interface ChatSettings {
  /** The path of the file, which may not exist. */
  readonly file: string;
  /** The model, as for `--model`. */
  readonly model: string | undefined;
  /** The address of the model's endpoint, as for `--base-url`. */
  readonly baseUrl: string | undefined;
  /** The name of the environment variable with the endpoint's key, as for `--api-key-env`. */
  readonly apiKeyEnv: string | undefined;
  /** The packages of model providers, by the name of the provider in `--model`. */
  readonly providers: ReadonlyMap<string, PackageExport>;
}

/** The members of the file, with the description of their values. */
const members: Readonly<Record<string, string>> = {
  model: 'a text such as "ollama/qwen3"',
  baseUrl: 'a URL such as "http://127.0.0.1:8080/v1"',
  apiKeyEnv: 'the name of an environment variable, such as "LLM_KEY", and not the key',
  providers: 'an object such as { "anthropic": "@ai-sdk/anthropic#anthropic" }',
};

/**
 * Reads the user's settings for the chat. Without the file, all settings are undefined or empty.
 *
 * Rejects with a `UsageError` with file, line and cure for an invalid file, and for one that other users can write.
 */
export async function readChatSettings(surroundings: Pick<CommandIo, "env" | "platform">): Promise<ChatSettings> {
  const file = join(configFolder(surroundings), "chat.json");
  const { value, lineOf } = parseJsonFile((await readSettingsFile(file)) ?? "{}", file);
  if (!isObject(value)) throw new UsageError(`${file}:1: the file must contain a JSON object.`);
  const place = (...path: string[]): string => `${file}:${lineOf(...path) ?? 1}`;
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(members, name)) continue;
    throw new UsageError(
      `${place(name)}: there is no setting ${JSON.stringify(name)}.`,
      didYouMean(name, Object.keys(members)),
    );
  }
  // The value is not shown, because a key could be there by mistake.
  const invalid = (form: string | undefined, ...path: string[]): UsageError =>
    new UsageError(`${place(...path)}: "${path.at(-1)}" has an invalid value.`, `It must be ${form}.`);
  const textOf = (name: string, isValid: (text: string) => boolean): string | undefined => {
    const member = value[name];
    if (member === undefined || (typeof member === "string" && isValid(member))) return member;
    throw invalid(members[name], name);
  };
  const model = textOf("model", (text) => text !== "");
  const baseUrl = textOf("baseUrl", (text) => URL.canParse(text));
  const apiKeyEnv = textOf("apiKeyEnv", isVariableName);
  for (const name of ["baseUrl", "apiKeyEnv"]) {
    if (model !== undefined || !Object.hasOwn(value, name)) continue;
    throw new UsageError(`${place(name)}: "${name}" belongs to a model, and the file names none.`, 'Add "model".');
  }
  const { providers = {} } = value;
  if (!isObject(providers)) throw invalid(members.providers, "providers");
  const packages = Object.entries(providers).map(([name, text]) => {
    const line = place("providers", name);
    if (!/^[\w.-]{1,64}$/.test(name)) {
      throw new UsageError(
        `${line}: ${JSON.stringify(name)} cannot be the name of a provider.`,
        "Use letters, digits, dots, hyphens and underscores.",
      );
    }
    if (typeof text !== "string") throw invalid('a text such as "@ai-sdk/anthropic#anthropic"', "providers", name);
    return [name, readPackageExport(text, line)] as const;
  });
  return { file, model, baseUrl, apiKeyEnv, providers: new Map(packages) };
}

/** Returns the text of the file, or undefined if it does not exist. The package of configurations is loaded only if it exists. */
async function readSettingsFile(file: string): Promise<string | undefined> {
  try {
    if (!lstatSync(file, { throwIfNoEntry: false })) return undefined;
  } catch {
    // The reader explains why the file cannot be used.
  }
  const { readTrustedFile, withUsageErrors } = await loadConfigured();
  return withUsageErrors(() => readTrustedFile(file));
}

/** Reads the text of a file as JSON with comments. Throws `UsageError` with file, line and column if it is not valid. */
function parseJsonFile(text: string, file: string): ParsedJson {
  try {
    return parseJsonWithComments(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new UsageError(`${file}:${error.line}:${error.column}: ${error.message}.`);
  }
}

/** Returns whether a text can be the name of an environment variable, and is not a key. */
export function isVariableName(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(text);
}

/** A name of a package with an optional subpath, and the name of an export. Paths and URLs do not match. */
const form =
  /^((?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*)((?:\/[\w~-][\w.~-]*)*)#([\p{ID_Start}$_][\p{ID_Continue}$]*)$/iu;

/**
 * Reads the text `PACKAGE#export`.
 *
 * Throws `UsageError` for any other text. `where` names the option or the setting that has it.
 */
export function readPackageExport(text: string, where: string): PackageExport {
  const [, name, subpath, exportName] = form.exec(text) ?? [];
  if (name !== undefined && exportName !== undefined && text.length <= 300) {
    return { package: name, specifier: `${name}${subpath}`, export: exportName };
  }
  throw new UsageError(
    `${where}: ${JSON.stringify(text.slice(0, 300))} is not an export of a package.`,
    "Write PACKAGE#export, such as @ai-sdk/anthropic#anthropic.",
  );
}
