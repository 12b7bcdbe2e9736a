import type { Client, RequestOptions } from "mcparley/client";
import type { CommandIo } from "./io.ts";
import type { ClientOptions } from "./options.ts";
import type { Questions } from "./questions/questions.ts";
import type { Screen } from "./screen.ts";

/** An open connection and everything a command works with. */
export interface Session {
  readonly client: Client;
  readonly io: CommandIo;
  readonly screen: Screen;
  readonly options: ClientOptions;
  readonly questions: Questions;
  /** The options of every request: how it is cancelled, and where its progress is shown. */
  readonly request: RequestOptions;
}

/** What a command does once it is connected. */
export type Action = (session: Session) => Promise<void>;

/** A command of the client, from its words to what it does. */
export interface ClientCommand {
  /** Its words after the name, as the help shows them. */
  readonly usage: string;
  readonly summary: string;
  /** Paragraphs for its own help. */
  readonly details: readonly string[];
  readonly examples: readonly string[];
  /** Reads the words after TARGET, before anything is connected. Throws `UsageError`. */
  prepare(words: readonly string[], io: CommandIo): Action | Promise<Action>;
}
