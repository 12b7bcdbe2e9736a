import { type LoggingLevel, loggingLevels, supportedVersions } from "mcparley";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { UsageError } from "../../terminal/io.ts";
import {
  type OptionValues,
  type Options,
  allTexts,
  isTyped,
  lastAs,
  lastText,
  membersAs,
  readPair,
} from "../../terminal/options.ts";
import { addedOptions, configurationOptions, networkOptions } from "../../targets/options.ts";
import { type SignInOptions, signInOptions } from "../../targets/sign-in/options.ts";

const { config, trust } = configurationOptions;

/** The options of each command. */
export const commonOptions = {
  json: {
    name: "json",
    topic: "options",
    description: 'print exactly one JSON document to stdout; errors as {"error": {...}}',
    read: isTyped,
  },
  help: { name: "help", short: "h", topic: "options", description: "show this help", read: isTyped },
} as const satisfies Options;

export const timeout = {
  name: "timeout",
  value: "TIME",
  topic: "options",
  description: "time limit of the whole command: 30 (seconds), 500ms, 2m; your answers do not count",
  read: lastAs(readTimeout),
} as const;

export const noInput = {
  name: "no-input",
  topic: "options",
  description: "never ask: refuse actions that need consent, and decline questions without an --answer",
  read: isTyped,
} as const;

export const verbose = {
  name: "verbose",
  short: "v",
  topic: "options",
  description: "show the connection, all log messages, and the stderr of a started server",
  read: isTyped,
} as const;

/** The options of the commands that use a target. */
export const targetOptions = {
  json: commonOptions.json,
  config,
  timeout,
  trust,
  noInput,
  verbose,
  help: commonOptions.help,
} as const satisfies Options;

/** The option for all answers in advance, before each had an option. */
export const formerYes = {
  name: "yes",
  short: "y",
  description: "the same as all options that answer questions in advance; it will be removed",
  read: isTyped,
} as const;

/** The notice about an option that will be removed. */
export const yesNotice =
  "--yes will be removed. Use --trust to start or contact the server of a file, --allow PATTERN to call its tools, and --send-answers to send complete forms.";

/** The options of the commands that connect to servers, in the order of the help. */
export const connectOptions = {
  json: commonOptions.json,
  config,
  timeout,
  maxReply: {
    name: "max-reply",
    value: "SIZE",
    topic: "options",
    description: "maximum size of a reply: 500KiB, 128MiB (16MiB; 24MiB for read)",
    read: lastAs(readSize),
  },
  ...addedOptions,
  revision: {
    name: "revision",
    value: "VERSION",
    topic: "options",
    description: "use this revision of the protocol only",
    read: lastAs(readRevision),
  },
  roots: {
    name: "root",
    value: "DIR",
    topic: "options",
    description: "declare this folder as a root that the server may use; repeatable",
    read: allTexts,
  },
  trust,
  noInput,
  logLevel: {
    name: "log-level",
    value: "LEVEL",
    topic: "options",
    description: "minimum level of the server's log messages that are shown (warning)",
    read: lastAs(readLogLevel),
  },
  verbose,
  help: commonOptions.help,
  ...networkOptions,
} as const satisfies Options;

/** The options of the commands that connect to one server. */
export const serverOptions = { ...connectOptions, ...signInOptions } as const satisfies Options;

/** The options of the commands during which a server may ask for input. */
export const answerOptions = {
  answers: {
    name: "answer",
    value: "NAME=VALUE",
    description: "answer the server's question for NAME; repeatable",
    read: membersAs((text) => readPair(text, "--answer")),
  },
  sample: {
    name: "sample",
    value: "TEXT",
    description: "answer with TEXT when the server asks for a model",
    read: lastText,
  },
  sendAnswers: {
    name: "send-answers",
    description: "send a form without asking if its answers are complete",
    read: isTyped,
  },
} as const satisfies Options;

/** The option of the commands whose result can be binary. */
export const output = {
  name: "output",
  short: "o",
  value: "FILE",
  description: "write images, audio and binary data to FILE",
  read: lastText,
} as const;

/** The options of a connection. A command without one of them connects as if it was not typed. */
export type ConnectionOptions = Pick<OptionValues<typeof connectOptions>, "json" | "timeout" | "noInput" | "verbose"> &
  Partial<OptionValues<typeof connectOptions> & OptionValues<typeof answerOptions>> &
  SignInOptions;

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function readTimeout(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const milliseconds = Number(number) * (units[unit ?? "s"] ?? 1000);
  if (milliseconds > 0) return milliseconds;
  throw new UsageError(`--timeout ${JSON.stringify(text)} is not a time.`, "Such as 30 (seconds), 500ms, 2m or 1h.");
}

const sizeUnits: Record<string, number> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
/** The longest text of Node has about this number of characters: 512 MiB. */
export const largestReply = 536_870_912;

function readSize(text: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)(?:([kmg])(?:iB)?)?$/i.exec(text) ?? [];
  const bytes = Math.floor(Number(number) * (sizeUnits[unit.toLowerCase()] ?? NaN));
  if (bytes > 0 && bytes <= largestReply) return bytes;
  const problem = bytes > largestReply ? "is more than 512MiB, the maximum" : "is not a size";
  throw new UsageError(`--max-reply ${JSON.stringify(text)} ${problem}.`, "Such as 500KiB or 128MiB.");
}

/** The pre-release is never negotiated, but a server that has only this version can be used. */
const usableVersions: readonly string[] = [...supportedVersions, "2024-10-07"];

function readRevision(text: string): string | undefined {
  if (text === "auto") return undefined;
  if (usableVersions.includes(text)) return text;
  throw new UsageError(
    `${JSON.stringify(text)} is not a revision of the protocol that mcparley supports.`,
    `Available: ${usableVersions.join(", ")}.`,
  );
}

function readLogLevel(text: string): LoggingLevel {
  const level = loggingLevels.find((one) => one === text);
  if (level) return level;
  throw new UsageError(`There is no log level ${JSON.stringify(text)}.`, didYouMean(text, loggingLevels));
}
