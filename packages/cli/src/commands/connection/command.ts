import type { TargetOption } from "../../targets/known-target.ts";
import type { OptionValues, Options, Words } from "../../terminal/options.ts";
import type { TalkSetting } from "../../terminal/questions/prompter.ts";
import type { FailureFacts } from "./report-error.ts";

/** The rows of a table of two columns. */
export type TableRows = readonly (readonly [label: string, text: string])[];

/** The declaration of a command, from which the parser, the help and the hints are made. */
export interface CommandDeclaration<O extends Options = Options> {
  /**
   * `server`: it connects to one server. `account`: it is about the account of the user at a server, and its help describes the options of a
   * sign-in. Default: `server`.
   */
  readonly kind?: "server" | "account" | "other";
  /** Its words after the name, as the help shows them. */
  readonly usage: string;
  readonly summary: string;
  /** Paragraphs for its own help. */
  readonly details: readonly string[];
  /** Tables for its own help, by title. */
  readonly tables?: Readonly<Record<string, TableRows>>;
  /** Its exit codes, if they are not those of the topic `exit-codes`. */
  readonly exitCodes?: TableRows;
  /** Whether its help names the topic `targets`. Default: whether a word of `usage` is a target. */
  readonly namesTargets?: boolean;
  readonly examples: readonly string[];
  readonly options: O;
  /** Whether it prints lines of JSON while it runs, and not one document. Default: false. */
  readonly printsLines?: boolean;
}

/** A command that is run, with its terminal and the values of its options. */
export interface CommandSetting<V = unknown> extends TalkSetting {
  readonly options: V;
  /** The options that a hint with another command repeats. */
  readonly targetOptions: readonly TargetOption[];
  /** Receives the facts that explain an error of the command. */
  readonly facts: FailureFacts;
}

/** A command after `mcparley`. */
export interface Command<O extends Options = Options> extends CommandDeclaration<O> {
  /** Runs the command. Throws `UsageError` for words that it does not accept, before anything else. */
  run(words: Words, setting: CommandSetting<OptionValues<O>>): Promise<void>;
}
