import { parseArgs } from "node:util";
import { type LoggingLevel, loggingLevels, supportedVersions } from "mcparley";
import { didYouMean, nearest } from "../did-you-mean.ts";
import type { NetworkOptions } from "./config/network.ts";
import { type TargetOption, optionsOfTarget } from "./config/known-target.ts";
import { UsageError } from "./io.ts";
import { commandsOf, hasOption, isEditing, optionDefinitions } from "./option-definitions.ts";

export interface ClientOptions {
  json: boolean;
  /** Milliseconds. */
  timeout: number | undefined;
  /** Maximum bytes of a reply. Undefined: the limits of the library. */
  maxReply: number | undefined;
  headers: Record<string, string>;
  /** The options that a hint with another command repeats. */
  ofTarget: readonly TargetOption[];
  /** The proxy and the certificates, as they were typed. */
  network: NetworkOptions;
  /** The configuration file to read instead of those of the folder and of the hosts. */
  config: string | undefined;
  revision: string | undefined;
  /** Variables for a started server. Undefined takes the value of the environment. */
  env: Record<string, string | undefined>;
  /** Whether a started server receives the whole environment. */
  envAll: boolean;
  /** Whether `add` and `remove` write the change without asking. In the other commands, the former sum of the next three options. */
  yes: boolean;
  /** Whether servers of configuration files are started or contacted without asking. */
  trust: boolean;
  /** Whether a form that is complete is sent without asking. */
  sendAnswers: boolean;
  /** The tools that are called without asking, as patterns of their names. */
  allow: readonly string[];
  noInput: boolean;
  logLevel: LoggingLevel | undefined;
  verbose: boolean;
  output: string | undefined;
  /** Answers to elicitations, by the name of the field. */
  answers: Record<string, string>;
  sample: string | undefined;
  /** The folders that the server may know as roots, as they were typed. */
  roots: readonly string[];
  /** Whether `list` shows all instructions of the server. */
  instructions: boolean;
  /** Shows the sign-in URL instead of opening a browser, and reads the redirect URL from the user. */
  noBrowser: boolean;
  clientId: string | undefined;
  /** The name of the environment variable that holds the client's secret. */
  clientSecretEnv: string | undefined;
  /** The redirect URI with which the client is registered. */
  redirectUri: string | undefined;
  /** The scopes of a sign-in, separated by spaces, or the scope of a configuration. */
  scope: string | undefined;
  /** Whether a sign-in requests `offline_access` if the authorization server supports it. */
  offlineAccess: boolean;
  /** Whether `login` registers another client. */
  newClient: boolean;
  issuer: string | undefined;
  /** Whether a sign-in requests tokens that are bound to a key of this machine (DPoP). */
  dpop: boolean;
  /** The resource identifier to accept although it is shorter than the URL of the server. */
  resource: string | undefined;
  keychain: boolean;
  /** The hosts to which `add` adds, and those from which `remove` removes, as they were typed. */
  to: readonly string[];
  from: readonly string[];
  /** The name of the new entry. */
  name: string | undefined;
  noPin: boolean;
  noCheck: boolean;
  dryRun: boolean;
  /** The model of a chat, and its endpoint or package. */
  model: string | undefined;
  baseUrl: string | undefined;
  /** The name of the environment variable that holds the key of the endpoint. */
  apiKeyEnv: string | undefined;
  provider: string | undefined;
  system: string | undefined;
  /** The only message of a chat that ends with its answer. */
  prompt: string | undefined;
  /** Whether each line of a pipe is a message or a command of its own. */
  lines: boolean;
  /** The stored conversation to continue. */
  resume: string | undefined;
  noHistory: boolean;
  help: boolean;
}

interface CommandWords {
  positionals: string[];
  /** The words after `--`. Undefined without `--`. */
  command: string[] | undefined;
  options: ClientOptions;
}

/**
 * Reads the words after a command's name. Throws `UsageError` for a missing value, an unknown option, and an option that the
 * command does not have. Without a name all options are accepted.
 */
export function readWords(argv: readonly string[], name?: string): CommandWords {
  const end = argv.indexOf("--");
  const own = end === -1 ? argv : argv.slice(0, end);
  const { tokens } = parseArgs({
    args: [...own],
    options: parserOptions(),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const positionals: string[] = [];
  const values = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const value = readOption(token, name);
    values.set(token.name, [...(values.get(token.name) ?? []), value]);
  }
  return { positionals, command: end === -1 ? undefined : argv.slice(end + 1), options: toOptions(values, name) };
}

function parserOptions(): Record<string, { type: "string" | "boolean"; short?: string; multiple: boolean }> {
  const entries = optionDefinitions.map(({ name, short, value }) => [
    name,
    { type: value === undefined ? "boolean" : "string", multiple: true, ...(short === undefined ? {} : { short }) },
  ]);
  return Object.fromEntries(entries) as ReturnType<typeof parserOptions>;
}

/** The placeholders of values that name something. Texts may be empty, and others have errors of their own. */
const namedThings = /^(?:ID|NAME|URL|FILE|DIR|SCOPE|HOST|PACKAGE#EXPORT|PROVIDER\/NAME)$/;

interface OptionToken {
  name: string;
  /** The option as it was typed, such as `-o`. */
  rawName: string;
  value?: string | undefined;
  /** Whether the value was typed in the same word, as in `--output=chart.png`. */
  inlineValue?: boolean | undefined;
}

function readOption({ name, rawName: typed, value, inlineValue }: OptionToken, command: string | undefined): string {
  const named = optionDefinitions.filter((one) => one.name === name);
  const definition = named.find((one) => command !== undefined && hasOption(command, one)) ?? named[0];
  if (!definition) {
    const near = nearest(
      name,
      optionDefinitions.map((one) => one.name),
    );
    const hint = near === undefined ? "--help shows the options." : `Did you mean --${near}?`;
    throw new UsageError(`There is no option ${typed}.`, `${hint} Options of the server's program go after --.`);
  }
  if (command !== undefined && !hasOption(command, definition)) {
    const others = [...new Set(named.flatMap(commandsOf))].map((one) => `mcparley ${one}`);
    throw new UsageError(`mcparley ${command} has no option ${typed}.`, `It is an option of ${others.join(", ")}.`);
  }
  if (definition.value === undefined) {
    if (value !== undefined) throw new UsageError(`${typed} takes no value; "${value}" was given.`);
    return "";
  }
  // A forgotten value would otherwise swallow the next option.
  if (value === undefined || (!inlineValue && /^--?[a-z]/i.test(value))) {
    throw new UsageError(`${typed} needs a value: ${typed} ${definition.value}`);
  }
  // A shell passes a variable that is not set as an empty word.
  if (value === "" && namedThings.test(definition.value)) {
    throw new UsageError(`The value of ${typed} is empty. If it is that of a variable, set the variable.`);
  }
  return value;
}

function toOptions(values: ReadonlyMap<string, readonly string[]>, command: string | undefined): ClientOptions {
  const last = (name: string): string | undefined => values.get(name)?.at(-1);
  const verbose = values.has("verbose");
  const isSum = values.has("yes") && !isEditing(command);
  const allowed = values.get("allow") ?? [];
  return {
    json: values.has("json"),
    timeout: readTimeout(last("timeout")),
    maxReply: readSize(last("max-reply")),
    headers: Object.fromEntries((values.get("header") ?? []).map(readHeader)),
    ofTarget: optionsOfTarget(isSum ? new Map([...values, ["trust", [""]]]) : values),
    network: toNetworkOptions(values),
    config: last("config"),
    revision: readRevision(last("revision")),
    env: Object.fromEntries((values.get("env") ?? []).map(readVariable)),
    envAll: values.has("env-all"),
    yes: values.has("yes"),
    trust: isSum || values.has("trust"),
    sendAnswers: isSum || values.has("send-answers"),
    // In a chat, the model chooses the tools.
    allow: isSum && command !== "chat" ? ["*", ...allowed] : allowed,
    noInput: values.has("no-input"),
    logLevel: readLogLevel(last("log-level")) ?? (verbose ? "debug" : undefined),
    verbose,
    output: last("output"),
    answers: Object.fromEntries((values.get("answer") ?? []).map((text) => readPair(text, "--answer"))),
    sample: last("sample"),
    roots: values.get("root") ?? [],
    instructions: values.has("instructions"),
    noBrowser: values.has("no-browser"),
    clientId: last("client-id"),
    clientSecretEnv: last("client-secret-env"),
    redirectUri: last("redirect-uri"),
    scope: last("scope"),
    offlineAccess: !values.has("no-offline"),
    newClient: values.has("new-client"),
    issuer: last("issuer"),
    dpop: values.has("dpop"),
    resource: last("resource"),
    keychain: values.has("keychain"),
    to: values.get("to") ?? [],
    from: values.get("from") ?? [],
    name: last("name"),
    noPin: values.has("no-pin"),
    noCheck: values.has("no-check"),
    dryRun: values.has("dry-run"),
    model: last("model"),
    baseUrl: last("base-url"),
    apiKeyEnv: last("api-key-env"),
    provider: last("provider"),
    system: last("system"),
    prompt: last("prompt"),
    lines: values.has("lines"),
    resume: last("resume"),
    noHistory: values.has("no-history"),
    help: values.has("help"),
  };
}

function toNetworkOptions(values: ReadonlyMap<string, readonly string[]>): NetworkOptions {
  const last = (name: string): string | undefined => values.get(name)?.at(-1);
  return {
    proxy: last("proxy"),
    cacert: values.get("cacert") ?? [],
    cert: last("cert"),
    key: last("key"),
    keyPassphraseEnv: last("key-passphrase-env"),
  };
}

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const milliseconds = Number(number) * (units[unit ?? "s"] ?? 1000);
  if (milliseconds > 0) return milliseconds;
  throw new UsageError(`--timeout ${JSON.stringify(text)} is not a time.`, "Such as 30 (seconds), 500ms, 2m or 1h.");
}

const sizeUnits: Record<string, number> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
/** The longest text of Node has about this number of characters: 512 MiB. */
export const largestReply = 536_870_912;

function readSize(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)(?:([kmg])(?:iB)?)?$/i.exec(text) ?? [];
  const bytes = Math.floor(Number(number) * (sizeUnits[unit.toLowerCase()] ?? NaN));
  if (bytes > 0 && bytes <= largestReply) return bytes;
  const problem = bytes > largestReply ? "is more than 512MiB, the maximum" : "is not a size";
  throw new UsageError(`--max-reply ${JSON.stringify(text)} ${problem}.`, "Such as 500KiB or 128MiB.");
}

function readHeader(text: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\r\n\0]*)$/.exec(text) ?? [];
  // The value may contain a token, so the error only shows the expected form.
  if (name !== undefined && value !== undefined) return [name, value.trim()];
  throw new UsageError("--header is not a header.", 'Such as --header "Authorization: Bearer ..."');
}

/** Reads `NAME=VALUE`, or `NAME` for the value that the variable has here. */
function readVariable(text: string): [string, string | undefined] {
  if (text !== "" && !text.includes("=")) return [text, undefined];
  return readPair(text, "--env");
}

function readPair(text: string, option: string): [string, string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`${option} needs NAME=VALUE.`, `Such as ${option} NAME=VALUE`);
}

/** The pre-release is never negotiated, but a server that has only this version can be used. */
const usableVersions: readonly string[] = [...supportedVersions, "2024-10-07"];

function readRevision(text: string | undefined): string | undefined {
  if (text === undefined || text === "auto") return undefined;
  if (usableVersions.includes(text)) return text;
  throw new UsageError(
    `${JSON.stringify(text)} is not a revision of the protocol that mcparley supports.`,
    `Available: ${usableVersions.join(", ")}.`,
  );
}

function readLogLevel(text: string | undefined): LoggingLevel | undefined {
  if (text === undefined) return undefined;
  const level = loggingLevels.find((one) => one === text);
  if (level) return level;
  throw new UsageError(`There is no log level ${JSON.stringify(text)}.`, didYouMean(text, loggingLevels));
}
