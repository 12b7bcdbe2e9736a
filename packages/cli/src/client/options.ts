import { parseArgs } from "node:util";
import { type LoggingLevel, loggingLevels, supportedVersions } from "mcparley";
import { didYouMean, nearest } from "../did-you-mean.ts";
import { UsageError } from "./io.ts";

export interface ClientOptions {
  json: boolean;
  /** Milliseconds. */
  timeout: number | undefined;
  headers: Record<string, string>;
  revision: string | undefined;
  /** Variables for a started server. Undefined takes the value of the environment. */
  env: Record<string, string | undefined>;
  /** Whether a started server receives the whole environment. */
  envAll: boolean;
  yes: boolean;
  /** The tools that are called without asking, by name. */
  allow: readonly string[];
  noInput: boolean;
  logLevel: LoggingLevel | undefined;
  verbose: boolean;
  output: string | undefined;
  /** Answers to elicitations, by the name of the field. */
  answers: Record<string, string>;
  sample: string | undefined;
  /** Shows the sign-in URL instead of opening a browser, and reads the redirect URL from the user. */
  noBrowser: boolean;
  clientId: string | undefined;
  /** The name of the environment variable that holds the client's secret. */
  clientSecretEnv: string | undefined;
  /** Separated by spaces. */
  scope: string | undefined;
  issuer: string | undefined;
  /** The resource identifier to accept although it is shorter than the URL of the server. */
  resource: string | undefined;
  keychain: boolean;
  help: boolean;
}

interface CommandWords {
  positionals: string[];
  /** The words after `--`. Undefined without `--`. */
  command: string[] | undefined;
  options: ClientOptions;
}

/** Reads the words after a command's name. Throws `UsageError` for an unknown option or a missing value. */
export function readWords(argv: readonly string[]): CommandWords {
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
    const value = readOption(token);
    values.set(token.name, [...(values.get(token.name) ?? []), value]);
  }
  return { positionals, command: end === -1 ? undefined : argv.slice(end + 1), options: toOptions(values) };
}

function parserOptions(): Record<string, { type: "string" | "boolean"; short?: string; multiple: boolean }> {
  const entries = optionDefinitions.map(({ name, short, value }) => [
    name,
    { type: value === undefined ? "boolean" : "string", multiple: true, ...(short === undefined ? {} : { short }) },
  ]);
  return Object.fromEntries(entries) as ReturnType<typeof parserOptions>;
}

interface OptionToken {
  name: string;
  /** The option as it was typed, such as `-o`. */
  rawName: string;
  value?: string | undefined;
  /** Whether the value was typed in the same word, as in `--output=chart.png`. */
  inlineValue?: boolean | undefined;
}

function readOption({ name, rawName: typed, value, inlineValue }: OptionToken): string {
  const definition = optionDefinitions.find((one) => one.name === name);
  if (!definition) {
    const near = nearest(
      name,
      optionDefinitions.map((one) => one.name),
    );
    const hint = near === undefined ? "--help shows the options." : `Did you mean --${near}?`;
    throw new UsageError(`There is no option ${typed}.`, `${hint} Options of the server's program go after --.`);
  }
  if (definition.value === undefined) {
    if (value !== undefined) throw new UsageError(`${typed} takes no value; "${value}" was given.`);
    return "";
  }
  // A forgotten value would otherwise swallow the next option.
  if (value === undefined || (!inlineValue && /^--?[a-z]/i.test(value))) {
    throw new UsageError(`${typed} needs a value: ${typed} ${definition.value}`);
  }
  return value;
}

function toOptions(values: ReadonlyMap<string, readonly string[]>): ClientOptions {
  const last = (name: string): string | undefined => values.get(name)?.at(-1);
  const verbose = values.has("verbose");
  return {
    json: values.has("json"),
    timeout: readTimeout(last("timeout")),
    headers: Object.fromEntries((values.get("header") ?? []).map(readHeader)),
    revision: readRevision(last("revision")),
    env: Object.fromEntries((values.get("env") ?? []).map(readVariable)),
    envAll: values.has("env-all"),
    yes: values.has("yes"),
    allow: values.get("allow") ?? [],
    noInput: values.has("no-input"),
    logLevel: readLogLevel(last("log-level")) ?? (verbose ? "debug" : undefined),
    verbose,
    output: last("output"),
    answers: Object.fromEntries((values.get("answer") ?? []).map((text) => readPair(text, "--answer"))),
    sample: last("sample"),
    noBrowser: values.has("no-browser"),
    clientId: last("client-id"),
    clientSecretEnv: last("client-secret-env"),
    scope: last("scope"),
    issuer: last("issuer"),
    resource: last("resource"),
    keychain: values.has("keychain"),
    help: values.has("help"),
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

function readRevision(text: string | undefined): string | undefined {
  if (text === undefined || text === "auto") return undefined;
  if (supportedVersions.includes(text)) return text;
  throw new UsageError(
    `${JSON.stringify(text)} is not a revision of the protocol that mcparley speaks.`,
    didYouMean(text, supportedVersions),
  );
}

function readLogLevel(text: string | undefined): LoggingLevel | undefined {
  if (text === undefined) return undefined;
  const level = loggingLevels.find((one) => one === text);
  if (level) return level;
  throw new UsageError(`There is no log level ${JSON.stringify(text)}.`, didYouMean(text, loggingLevels));
}

/** The definition of an option, for the parser and the help. */
export interface OptionDefinition {
  readonly name: string;
  readonly short?: string;
  /** The placeholder of its value in the help. Undefined for a switch. */
  readonly value?: string;
  readonly description: string;
  /** The help shows options of a topic together. */
  readonly topic?: "sign-in";
}

export const optionDefinitions: readonly OptionDefinition[] = [
  { name: "json", description: 'print exactly one JSON document to stdout; errors as {"error": {...}}' },
  { name: "output", short: "o", value: "FILE", description: "write images, audio and binary data to FILE" },
  {
    name: "timeout",
    value: "TIME",
    description: "stop after this time in all: 30 (seconds), 500ms, 2m; your answers do not count",
  },
  { name: "header", short: "H", value: '"NAME: VALUE"', description: "send this HTTP header; may come again" },
  {
    name: "env",
    short: "e",
    value: "NAME[=VALUE]",
    description: "pass this variable to a server that is started: its value here, or VALUE; repeatable",
  },
  { name: "env-all", description: "pass all variables of this shell to a server that is started" },
  { name: "revision", value: "VERSION", description: "speak this revision of the protocol only" },
  { name: "answer", value: "NAME=VALUE", description: "answer the server's question for NAME; may come again" },
  { name: "sample", value: "TEXT", description: "answer with TEXT when the server asks for a model" },
  { name: "allow", value: "TOOL", description: "call this tool without asking, even if it is destructive; repeatable" },
  {
    name: "yes",
    short: "y",
    description: "never ask: call destructive tools, start commands of configuration files, send complete answers",
  },
  { name: "no-input", description: "never ask: refuse what needs a yes, and decline questions without an --answer" },
  { name: "log-level", value: "LEVEL", description: "show the server's log messages from this level on (warning)" },
  {
    name: "verbose",
    short: "v",
    description: "show the connection, all log messages, and the stderr of a started server",
  },
  { name: "help", short: "h", description: "show this" },
  ...signInOptions(),
];

function signInOptions(): OptionDefinition[] {
  const topic = "sign-in";
  return [
    { topic, name: "no-browser", description: "show where to sign in, and ask for the address that a browser ends at" },
    {
      topic,
      name: "scope",
      value: '"SCOPE ..."',
      description: "ask for these scopes, and not for those the server names",
    },
    { topic, name: "client-id", value: "ID", description: "sign in as this client, which is registered already" },
    {
      topic,
      name: "client-secret-env",
      value: "NAME",
      description: "the environment variable NAME holds the secret of this client",
    },
    {
      topic,
      name: "issuer",
      value: "URL",
      description: "the authorization server, where the MCP server names several",
    },
    {
      topic,
      name: "resource",
      value: "URL",
      description: "accept this resource identifier, if it is shorter than the server's URL",
    },
    {
      topic,
      name: "keychain",
      description: "from now on keep what signing in gives with a key of the system's keychain",
    },
  ];
}
