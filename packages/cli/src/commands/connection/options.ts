import { type LoggingLevel, loggingLevels } from "mcparley";
import { addedOptions, configurationOptions, networkOptions } from "../../targets/options.ts";
import { readRevision } from "../../targets/revision.ts";
import { type SignInOptions, signInOptions } from "../../targets/sign-in/options.ts";
import { didYouMean } from "../../terminal/did-you-mean.ts";
import { UsageError } from "../../terminal/io.ts";
import {
  type OptionValues,
  type Options,
  flag,
  membersAs,
  options,
  readPair,
  text,
  textAs,
  texts,
} from "../../terminal/options.ts";

/** The options of several commands. */
export const commonOptions = options(
  {
    json: flag('print exactly one JSON document to stdout; errors as {"error": {...}}'),
    timeout: textAs(
      "TIME",
      "time limit of the whole command: 30 (seconds), 500ms, 2m; your answers do not count",
      readTimeout,
    ),
    noInput: flag("never ask: refuse actions that need consent, and decline questions without an --answer"),
    verbose: flag("show the connection, all log messages, and the stderr of a started server", "v"),
    help: flag("show this help", "h"),
  },
  "options",
);

const { json, timeout, noInput, verbose, help } = commonOptions;
const { config, trust } = configurationOptions;

/** The options of the commands that use a target. */
export const targetOptions = { json, config, timeout, trust, noInput, verbose, help } as const;

/** The option for all answers in advance, before each had an option. */
export const { yes: formerYes } = options({
  yes: flag("the same as all options that answer questions in advance; it will be removed", "y"),
});

/** Returns the notice about `--yes`, which will be removed, with the options of a command that replace it. */
export function yesNotice({ allow, sendAnswers }: Options): string {
  const uses = [
    "--trust to start or contact the server of a file",
    ...(allow ? ["--allow PATTERN to call its tools"] : []),
    ...(sendAnswers ? ["--send-answers to send complete forms"] : []),
  ];
  const [last = "", ...firstUses] = uses.toReversed();
  const list =
    firstUses.length === 0
      ? last
      : `${firstUses.toReversed().join(", ")}${firstUses.length > 1 ? "," : ""} and ${last}`;
  return `--yes will be removed. Use ${list}.`;
}

const { maxReply, revision, root, logLevel } = options(
  {
    maxReply: textAs("SIZE", "maximum size of a reply: 500KiB, 128MiB (16MiB; 24MiB for read)", readSize),
    revision: {
      ...textAs(
        "VERSION",
        "use this revision of the protocol only, and not that of the configuration; auto finds it",
        (version) => readRevision(version),
      ),
      isOfTarget: true,
    },
    root: texts("DIR", "declare this folder as a root that the server may use; repeatable"),
    logLevel: textAs("LEVEL", "minimum level of the server's log messages that are shown (warning)", readLogLevel),
  },
  "options",
);

/** The options of the commands that connect to servers, in the order of the help. */
export const connectOptions = {
  json,
  config,
  timeout,
  maxReply,
  ...addedOptions,
  revision,
  root,
  trust,
  noInput,
  logLevel,
  verbose,
  help,
  ...networkOptions,
} as const;

const { newClient: _newClient, ...otherSignInOptions } = signInOptions;

/** The options of the commands that connect to one server. */
export const serverOptions = { ...connectOptions, ...otherSignInOptions } as const;

/** The options of the commands during which a server may ask for input. */
export const answerOptions = options({
  answer: {
    value: "NAME=VALUE",
    description: "answer the server's question for NAME; repeatable",
    read: membersAs((pair) => readPair(pair, "--answer")),
  },
  sample: text("TEXT", "answer with TEXT when the server asks for a model"),
  sendAnswers: flag("send a form without asking if its answers and its defaults are complete"),
});

/** The option of the commands whose result can be binary. */
export const { output } = options({ output: text("FILE", "write images, audio and binary data to FILE", "o") });

/** The options of a connection. A command without one of them connects as if it was not typed. */
export type ConnectionOptions = Pick<OptionValues<typeof connectOptions>, "json" | "timeout" | "noInput" | "verbose"> &
  Partial<OptionValues<typeof connectOptions> & OptionValues<typeof answerOptions>> &
  SignInOptions;

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function readTimeout(time: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(time) ?? [];
  const milliseconds = Number(number) * (units[unit ?? "s"] ?? 1000);
  if (milliseconds > 0) return milliseconds;
  throw new UsageError(`--timeout ${JSON.stringify(time)} is not a time.`, "Such as 30 (seconds), 500ms, 2m or 1h.");
}

const sizeUnits: Record<string, number> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
/** The longest text of Node has about this number of characters: 512 MiB. */
export const largestReply = 536_870_912;

function readSize(size: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)(?:([kmg])(?:iB)?)?$/i.exec(size) ?? [];
  const bytes = Math.floor(Number(number) * (sizeUnits[unit.toLowerCase()] ?? NaN));
  if (bytes > 0 && bytes <= largestReply) return bytes;
  const problem = bytes > largestReply ? "is more than 512MiB, the maximum" : "is not a size";
  throw new UsageError(`--max-reply ${JSON.stringify(size)} ${problem}.`, "Such as 500KiB or 128MiB.");
}

function readLogLevel(word: string): LoggingLevel {
  const level = loggingLevels.find((one) => one === word);
  if (level) return level;
  throw new UsageError(`There is no log level ${JSON.stringify(word)}.`, didYouMean(word, loggingLevels));
}
