import { join } from "node:path";
import { readTrustedFile } from "@mcparley/config";
import { withUsageErrors } from "../../targets/config-problem.ts";
import { type CommandIo, UsageError } from "../../terminal/io.ts";
import { isObject } from "@mcparley/internal/is-object";
import { JsonSyntaxError, type ParsedJson, parseJsonWithComments } from "../../terminal/json.ts";
import { configFolder } from "../../terminal/user-folders.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { type PackageExport, readPackageExport } from "./package-export.ts";

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
 * Throws `UsageError` with file, line and cure for an invalid file, and for one that other users can write.
 */
export function readChatSettings(surroundings: Pick<CommandIo, "env" | "platform">): ChatSettings {
  const file = join(configFolder(surroundings), "chat.json");
  const text = withUsageErrors(() => readTrustedFile(file));
  if (text === undefined) {
    return { file, model: undefined, baseUrl: undefined, apiKeyEnv: undefined, providers: new Map() };
  }
  const parsed = parseJsonFile(text, file);
  const { value } = parsed;
  if (!isObject(value)) throw new UsageError(`${file}:1: the file must contain a JSON object.`);
  const where = (...path: string[]): string => `${file}:${parsed.lineOf(...path) ?? 1}`;
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(members, name)) continue;
    throw new UsageError(
      `${where(name)}: there is no setting ${JSON.stringify(name)}.`,
      didYouMean(name, Object.keys(members)),
    );
  }
  const textOf = (name: string, isValid: (text: string) => boolean): string | undefined => {
    if (!Object.hasOwn(value, name)) return undefined;
    const member = value[name];
    if (typeof member === "string" && isValid(member)) return member;
    // The value is not shown, because a key could be there by mistake.
    throw new UsageError(`${where(name)}: "${name}" has an invalid value.`, `It must be ${members[name]}.`);
  };
  const model = textOf("model", (text) => text !== "");
  const baseUrl = textOf("baseUrl", (text) => URL.canParse(text));
  const apiKeyEnv = textOf("apiKeyEnv", isVariableName);
  for (const name of ["baseUrl", "apiKeyEnv"]) {
    if (model !== undefined || !Object.hasOwn(value, name)) continue;
    throw new UsageError(`${where(name)}: "${name}" belongs to a model, and the file names none.`, 'Add "model".');
  }
  return { file, model, baseUrl, apiKeyEnv, providers: readProviders(value.providers, where) };
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

function readProviders(value: unknown, where: (...path: string[]) => string): ReadonlyMap<string, PackageExport> {
  if (value === undefined) return new Map();
  if (!isObject(value)) {
    throw new UsageError(
      `${where("providers")}: "providers" has an invalid value.`,
      `It must be ${members.providers}.`,
    );
  }
  return new Map(
    Object.entries(value).map(([name, text]) => {
      const place = where("providers", name);
      if (!/^[\w.-]{1,64}$/.test(name)) {
        throw new UsageError(
          `${place}: ${JSON.stringify(name)} cannot be the name of a provider.`,
          "Use letters, digits, dots, hyphens and underscores.",
        );
      }
      if (typeof text !== "string") {
        throw new UsageError(
          `${place}: "${name}" has an invalid value.`,
          'It must be a text such as "@ai-sdk/anthropic#anthropic".',
        );
      }
      return [name, readPackageExport(text, place)];
    }),
  );
}
