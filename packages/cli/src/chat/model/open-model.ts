import type { LanguageModel, ProviderName } from "@mcparley/host";
import { createFetch } from "mcparley/node";
import { isLoopback } from "@mcparley/internal/loopback";
import { UsageError } from "../../terminal/io.ts";
import { nearest } from "../../terminal/did-you-mean.ts";
import {
  type ChatSettings,
  type PackageExport,
  isVariableName,
  readChatSettings,
  readPackageExport,
} from "./chat-settings.ts";
import { readBaseUrl } from "./base-url.ts";
import { type BuiltInProvider, addressOf, builtInProviders, schemasOf } from "./built-in-providers.ts";
import { endpointModel } from "./endpoint-model.ts";
import type { ModelSurroundings } from "./provider-package.ts";

export type { ModelSurroundings, ProviderQuestion } from "./provider-package.ts";

/** The options of the command that choose the model. */
export interface ModelWords {
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  /** The name of an environment variable. */
  readonly apiKeyEnv: string | undefined;
  /** An export of a package: `PACKAGE#export`. */
  readonly provider: string | undefined;
}

/** The model of a chat. */
export interface ChosenModel {
  /** The name for the user, such as `ollama/qwen3`. */
  readonly name: string;
  readonly model: LanguageModel;
  /** The rules for the schemas of tools, for the option `provider` of a host. */
  readonly schemas: ProviderName;
  /** Origin and path of the endpoint, without secrets. Undefined for a package. */
  readonly endpoint: string | undefined;
}

/** A model with all that belongs to it, from one source. */
interface Choice {
  readonly model: string;
  readonly baseUrl: string | undefined;
  readonly apiKeyEnv: string | undefined;
  readonly provider: string | undefined;
  /** Names the source of the model in errors. */
  readonly source: string;
}

/**
 * Opens the model of a chat: that of the options, of the variable `MCPARLEY_MODEL`, or of the user's settings, in this
 * order. Returns undefined if none of them names a model.
 *
 * Nothing is sent to the model yet. Throws `UsageError` for an unknown provider, a missing key or package, and an unsafe
 * address, and `Declined` if the user does not confirm a package.
 */
export async function openModel(words: ModelWords, surroundings: ModelSurroundings): Promise<ChosenModel | undefined> {
  const settings = await readChatSettings(surroundings);
  const choice = choose(words, settings, surroundings.env);
  if (!choice) return undefined;
  if (choice.provider !== undefined) {
    return ofPackage(readPackageExport(choice.provider, "--provider"), choice, surroundings);
  }
  if (choice.baseUrl !== undefined) {
    const option = choice.source === "--model" ? "--base-url" : `${choice.source}: "baseUrl"`;
    return ofEndpoint(
      { model: choice.model, url: choice.baseUrl, source: option, keyEnv: choice.apiKeyEnv },
      surroundings,
    );
  }
  const { name, model } = splitModel(choice);
  const packageExport = settings.providers.get(name);
  if (packageExport) return ofPackage(packageExport, { ...choice, model }, surroundings);
  const provider = builtInProviders.get(name);
  if (provider) {
    const { url, variable = name } = addressOf(name, provider, surroundings.env);
    const keyEnv = choice.apiKeyEnv ?? provider.keyEnv;
    return ofEndpoint({ model, url, source: variable, keyEnv, builtIn: { name, provider } }, surroundings);
  }
  const names = [...builtInProviders.keys(), ...settings.providers.keys()];
  const similar = nearest(name, names);
  const suggestion = similar === undefined ? `Available: ${names.join(", ")}.` : `Did you mean "${similar}"?`;
  throw new UsageError(
    `${choice.source}: there is no model provider ${JSON.stringify(name)}.`,
    `${suggestion} Others need a package of the AI SDK, such as --provider @ai-sdk/anthropic#anthropic.`,
  );
}

/** Returns the model of the first source that names one. Settings of several sources are never combined, so that a key of one source is not sent to the address of another. */
function choose(words: ModelWords, settings: ChatSettings, env: ModelSurroundings["env"]): Choice | undefined {
  const { model, baseUrl, apiKeyEnv, provider } = words;
  if (model !== undefined) return { model, baseUrl, apiKeyEnv, provider, source: "--model" };
  const [alone] = Object.entries({ "--base-url": baseUrl, "--api-key-env": apiKeyEnv, "--provider": provider })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  if (alone !== undefined) {
    throw new UsageError(`${alone} belongs to a model, and --model is missing.`, "Add --model NAME.");
  }
  const none = { baseUrl: undefined, apiKeyEnv: undefined, provider: undefined };
  if (env.MCPARLEY_MODEL) return { ...none, model: env.MCPARLEY_MODEL, source: "MCPARLEY_MODEL" };
  if (settings.model === undefined) return undefined;
  return { ...settings, model: settings.model, provider: undefined, source: settings.file };
}

function splitModel({ model, source }: Choice): { name: string; model: string } {
  const [, name, modelName] = /^([^/]+)\/(.+)$/s.exec(model) ?? [];
  if (name !== undefined && modelName !== undefined) return { name, model: modelName };
  throw new UsageError(
    `${source}: ${JSON.stringify(model)} names no provider and model.`,
    "Write PROVIDER/NAME, such as ollama/qwen3. For another endpoint, add --base-url URL.",
  );
}

/** Returns a model of a provider's package. It reads its key itself. */
async function ofPackage(
  provider: PackageExport,
  { model, baseUrl, apiKeyEnv }: Choice,
  surroundings: ModelSurroundings,
): Promise<ChosenModel> {
  if (baseUrl !== undefined || apiKeyEnv !== undefined) {
    throw new UsageError(
      `${baseUrl !== undefined ? "A base URL" : "The variable of a key"} cannot be set for a provider of a package.`,
      "Leave it out. The documentation of the package names the variables that it reads.",
    );
  }
  // Other models do not need the code that finds and loads packages.
  const { packageModel } = await import("./provider-package.ts");
  const languageModel = await packageModel(provider, model, surroundings);
  return {
    name: `${provider.package}/${model}`,
    model: languageModel,
    schemas: schemasOfPackage(provider),
    endpoint: undefined,
  };
}

/** Returns the rules for the schemas of a package: those of the company whose models it has, if the name says so. */
function schemasOfPackage({ specifier }: PackageExport): ProviderName {
  const [, maker] = /^@ai-sdk\/(?:[\w-]+\/)?(openai|anthropic|google)$/.exec(specifier) ?? [];
  return maker === "openai" || maker === "anthropic" || maker === "google" ? maker : "common";
}

/** An endpoint that was chosen. */
interface EndpointChoice {
  /** The name of the model at the endpoint. */
  readonly model: string;
  readonly url: string;
  /** Names the source of the URL in errors. */
  readonly source: string;
  /** The variable with the key. Undefined if no key is sent. */
  readonly keyEnv: string | undefined;
  /** The provider whose endpoint it is. Undefined for a URL of the user. */
  readonly builtIn?: { readonly name: string; readonly provider: BuiltInProvider };
}

async function ofEndpoint(
  { model, url, source, keyEnv, builtIn }: EndpointChoice,
  { env, connection }: ModelSurroundings,
): Promise<ChosenModel> {
  const { provider } = builtIn ?? {};
  const address = readBaseUrl(url, source, keyEnv !== undefined);
  const key = keyEnv === undefined ? undefined : readKey(keyEnv, provider?.title ?? "The endpoint", env);
  const { host, hostname } = new URL(address.href);
  const name = builtIn?.name ?? host;
  // A proxy cannot reach the programs of this machine.
  const settings = connection && isLoopback(hostname) ? { ...connection, proxy: false as const } : connection;
  return {
    name: `${name}/${model}`,
    model: await endpointModel({ ...address, model, key, keyEnv, provider }, name, createFetch(settings)),
    schemas: builtIn ? schemasOf(name, builtIn.provider, model) : "common",
    endpoint: address.displayText,
  };
}

/** Returns the key in a variable. No error contains it. */
function readKey(name: string, title: string, env: ModelSurroundings["env"]): string {
  if (!isVariableName(name)) {
    throw new UsageError(
      "--api-key-env needs the name of an environment variable, and not a key.",
      "Set a variable to the key, and write its name, such as --api-key-env LLM_KEY.",
    );
  }
  const key = env[name]?.trim();
  if (!key) {
    throw new UsageError(
      `${title} needs a key, and the environment variable ${name} is not set.`,
      `Set ${name} to the key, or name another variable with --api-key-env NAME.`,
    );
  }
  // Node would repeat the key in its error.
  if (!/^[\x21-\x7E]+$/.test(key)) {
    throw new UsageError(
      `The environment variable ${name} contains characters that a key cannot have.`,
      `Set ${name} to the key only, on one line.`,
    );
  }
  return key;
}
