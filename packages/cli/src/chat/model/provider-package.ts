import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { LanguageModel } from "@mcparley/host";
import { UsageError } from "../../terminal/io.ts";
import { quotedWord } from "../../terminal/quoted-word.ts";
import { configFolder } from "../../terminal/user-folders.ts";
import { visibleLine } from "../../terminal/text.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { type FoundPackage, findPackage } from "./find-package.ts";
import type { PackageExport } from "./chat-settings.ts";
import { type ModelSurroundings, approveProvider } from "./provider-approval.ts";

/**
 * Returns a model of a provider's package. The user confirms the package before its code runs the first time.
 *
 * Throws `UsageError` if the package is not installed, cannot be loaded, or has no such model.
 */
export async function packageModel(
  provider: PackageExport,
  model: string,
  surroundings: ModelSurroundings,
): Promise<LanguageModel> {
  const found = findPackage(provider.package, surroundings);
  if (!found) throw notInstalled(provider, surroundings);
  await approveProvider(provider, found, surroundings);
  const exports = await load(provider, found);
  const exported = exportOf(exports, provider);
  const made = await callProvider(exported, provider, model);
  if (isModel(made)) return made;
  throw notUsable(made, provider, installCommand(`${provider.package}@latest`, surroundings));
}

function notInstalled({ package: name }: PackageExport, surroundings: ModelSurroundings): UsageError {
  return new UsageError(
    `The package ${name} is not installed in ${configFolder(surroundings)}, in the current folder or above it, or globally.`,
    `Install it for this command: ${installCommand(name, surroundings)}`,
  );
}

/** Returns the command that installs a package in the folder that is searched first. */
function installCommand(name: string, surroundings: ModelSurroundings): string {
  return `npm install --prefix ${quotedWord(configFolder(surroundings))} ${name}`;
}

/** Loads a package as an ES module or as CommonJS. */
async function load({ specifier, package: name }: PackageExport, found: FoundPackage): Promise<object> {
  try {
    // Node cannot resolve an import from another folder. It is loaded lazily, because other models do not need it.
    const { createJiti } = await import("jiti");
    const from = join(found.from, "package.json");
    const url = createJiti(from, { fsCache: false }).esmResolve(specifier, {
      parentURL: pathToFileURL(from),
      conditions: ["node", "import", "module-sync", "default"],
    });
    return (await import(url)) as object;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `${specifier} in ${found.path} cannot be loaded: ${visibleLine(reason).slice(0, 500)}`,
      `Install ${name} again, or check the subpath in its name.`,
    );
  }
}

/** Returns an export of a module. The exports of CommonJS are also members of the default export. */
function exportOf(exports: object, { specifier, export: name }: PackageExport): unknown {
  const own = members(exports);
  const inner = members(own.default);
  if (Object.hasOwn(own, name)) return own[name];
  if (Object.hasOwn(inner, name)) return inner[name];
  const providers = [...new Set([...Object.keys(own), ...Object.keys(inner)])].filter((key) => /^[a-z]/.test(key));
  throw new UsageError(
    `${specifier} has no export "${name}".`,
    didYouMean(
      name,
      providers.filter((key) => key !== "default"),
    ),
  );
}

/** Returns the model that an export makes: a factory `create...`, an object with `languageModel`, or a function. */
async function callProvider(
  exported: unknown,
  { specifier, export: name }: PackageExport,
  model: string,
): Promise<unknown> {
  try {
    const provider: unknown = /^create(?:[A-Z]|$)/.test(name) && isFunction(exported) ? await exported() : exported;
    const { languageModel } = members(provider);
    if (isFunction(languageModel)) return await languageModel.call(provider, model);
    if (isFunction(provider)) return await provider(model);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `${specifier}#${name} cannot make the model ${JSON.stringify(model)}: ${visibleLine(reason).slice(0, 500)}`,
      "Check the name of the model and the variables that the package needs.",
    );
  }
  throw new UsageError(
    `${specifier}#${name} is not a provider of the AI SDK.`,
    "Name an export that is called with the name of a model, such as @ai-sdk/anthropic#anthropic.",
  );
}

/** Returns whether a value is a model with a version of the specification that a host can use. */
function isModel(made: unknown): made is LanguageModel {
  const { specificationVersion: version, doStream } = members(made);
  return isFunction(doStream) && (version === "v3" || version === "v4");
}

function notUsable(made: unknown, { specifier, export: name }: PackageExport, newer: string): UsageError {
  const { specificationVersion: version, doStream } = members(made);
  if (!isFunction(doStream)) {
    return new UsageError(
      `${specifier}#${name} makes no language model.`,
      "Name an export that is called with the name of a model, such as @ai-sdk/anthropic#anthropic.",
    );
  }
  return new UsageError(
    `${specifier}#${name} makes a model of version ${JSON.stringify(version) ?? "undefined"} of the specification, and "v3" or "v4" is needed.`,
    `Install a newer version: ${newer}`,
  );
}

type Function = (this: unknown, ...args: unknown[]) => unknown;

function isFunction(value: unknown): value is Function {
  return typeof value === "function";
}

/** Returns the members of an object or a function, and none for other values. */
function members(value: unknown): Record<string, unknown> {
  const hasMembers = (typeof value === "object" && value !== null) || typeof value === "function";
  return hasMembers ? (value as Record<string, unknown>) : {};
}
