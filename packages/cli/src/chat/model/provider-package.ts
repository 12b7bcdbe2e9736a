import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { LanguageModel } from "@mcparley/host";
import { Declined } from "mcparley";
import type { HttpConnection } from "mcparley/client";
import { createFetch } from "mcparley/node";
import { readApprovals } from "../../targets/approval.ts";
import { type CommandIo, UsageError } from "../../terminal/io.ts";
import { quotedWord } from "../../terminal/quoted-word.ts";
import { configFolder } from "../../terminal/user-folders.ts";
import { visibleLine } from "../../terminal/text.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { type FoundPackage, findPackage } from "./find-package.ts";
import type { PackageExport } from "./chat-settings.ts";

/** The question whether the code of a provider's package may run. */
export interface ProviderQuestion {
  /** The package and its export, such as `@ai-sdk/anthropic#anthropic`. */
  readonly name: string;
  /** The folder of the package, without symbolic links. */
  readonly path: string;
  /** The version in the package's manifest. Empty if it has none. */
  readonly version: string;
}

/** The surroundings of a model. */
export interface ModelSurroundings extends Pick<CommandIo, "cwd" | "env" | "platform"> {
  /** The proxy and the certificate authorities of the command line. Default: those of the environment. */
  readonly connection?: Pick<HttpConnection, "proxy" | "ca"> | undefined;
  /** Asks whether a provider's package may be loaded. Undefined if nobody can be asked. */
  readonly confirm?: ((question: ProviderQuestion) => Promise<boolean>) | undefined;
}

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
  const installation = findPackage(provider.package, surroundings);
  if (!installation) {
    throw new UsageError(
      `The package ${provider.package} is not installed in ${configFolder(surroundings)}, in the current folder or above it, or globally.`,
      `Install it for this command: ${installCommand(provider.package, surroundings)}`,
    );
  }
  await approveProvider(provider, installation, surroundings);
  const exports = await load(provider, installation);
  const value = exportOf(exports, provider);
  const factory = factoryOf(exports, provider);
  const make = factory ? () => factory({ fetch: createFetch(surroundings.connection) }) : () => value;
  const result = await callProvider(make, provider, model);
  if (isModel(result)) return result;
  const { specificationVersion: version, doStream } = members(result);
  const name = `${provider.specifier}#${provider.export}`;
  if (!isFunction(doStream)) throw new UsageError(`${name} makes no language model.`, exportCure);
  throw new UsageError(
    `${name} makes a model of version ${JSON.stringify(version) ?? "undefined"} of the specification, and "v3" or "v4" is needed.`,
    `Install a newer version: ${installCommand(`${provider.package}@latest`, surroundings)}`,
  );
}

const exportCure = "Name an export that is called with the name of a model, such as @ai-sdk/anthropic#anthropic.";

/** The file of the approved packages, in the user's folder for state. */
const list = "approved-providers";

/**
 * Asks whether the code of a provider's package may run, the first time that it is used. The answer is remembered for the
 * folder, the version and the export.
 *
 * Throws `Declined` on a no, and `UsageError` if nobody can be asked.
 */
async function approveProvider(
  provider: PackageExport,
  installation: FoundPackage,
  surroundings: ModelSurroundings,
): Promise<void> {
  const { path, version } = installation;
  const name = `${provider.specifier}#${provider.export}`;
  const subject = JSON.stringify([path, version, name]);
  const approvals = readApprovals(list, surroundings);
  if (approvals.has(subject)) return;
  const title = `${name} (version ${version || "unknown"}, ${path})`;
  if (!surroundings.confirm) {
    throw new UsageError(
      `The code of the provider ${title} was not approved, and nobody can be asked.`,
      "Run mcparley chat with it once at a terminal, and confirm it.",
    );
  }
  if (!(await surroundings.confirm({ name, path, version }))) {
    throw new Declined(`The provider ${title} was not approved.`);
  }
  approvals.add(subject);
}

/** Returns the command that installs a package in the folder that is searched first. */
function installCommand(name: string, surroundings: ModelSurroundings): string {
  return `npm install --prefix ${quotedWord(configFolder(surroundings))} ${name}`;
}

/** Loads a package as an ES module or as CommonJS. */
async function load({ specifier, package: name }: PackageExport, installation: FoundPackage): Promise<object> {
  try {
    // Node cannot resolve an import from another folder. It is loaded lazily, because other models do not need it.
    const { createJiti } = await import("jiti");
    const manifestFile = join(installation.folder, "package.json");
    const url = createJiti(manifestFile, { fsCache: false }).esmResolve(specifier, {
      parentURL: pathToFileURL(manifestFile),
      conditions: ["node", "import", "module-sync", "default"],
    });
    return (await import(url)) as object;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `${specifier} in ${installation.path} cannot be loaded: ${visibleLine(reason).slice(0, 500)}`,
      `Install ${name} again, or check the subpath in its name.`,
    );
  }
}

/** Returns an export of a module. The exports of CommonJS are also members of the default export. */
function exportOf(exports: object, { specifier, export: name }: PackageExport): unknown {
  const namedExports = members(exports);
  const inner = members(namedExports.default);
  if (Object.hasOwn(namedExports, name)) return namedExports[name];
  if (Object.hasOwn(inner, name)) return inner[name];
  const names = [...new Set([...Object.keys(namedExports), ...Object.keys(inner)])];
  const providers = names.filter((key) => /^[a-z]/.test(key) && key !== "default");
  throw new UsageError(`${specifier} has no export "${name}".`, didYouMean(name, providers));
}

/**
 * Returns the factory that makes the provider of an export: `createOpenAI` for `openai`. A provider of the AI SDK is what its factory
 * returns without settings, and only a factory accepts a `fetch`. Returns undefined if the package has no such factory.
 */
function factoryOf(exports: object, { export: name }: PackageExport): Function | undefined {
  const values = { ...members(members(exports).default), ...members(exports) };
  const factoryName = /^create(?:[A-Z]|$)/.test(name) ? name : `create${name}`;
  const [key, ...others] = Object.keys(values).filter((one) => one.toLowerCase() === factoryName.toLowerCase());
  const value = key === undefined || others.length > 0 ? undefined : values[key];
  return isFunction(value) ? value : undefined;
}

/** Returns the model that a provider makes: an object with `languageModel`, or a function. */
async function callProvider(
  make: () => unknown,
  { specifier, export: name }: PackageExport,
  model: string,
): Promise<unknown> {
  try {
    const provider: unknown = await make();
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
  throw new UsageError(`${specifier}#${name} is not a provider of the AI SDK.`, exportCure);
}

/** Returns whether a value is a model with a version of the specification that a host can use. */
function isModel(value: unknown): value is LanguageModel {
  const { specificationVersion: version, doStream } = members(value);
  return isFunction(doStream) && (version === "v3" || version === "v4");
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
