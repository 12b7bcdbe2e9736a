import type { Client, RequestOptions } from "mcparley/client";
import type { CommandIo } from "./io.ts";
import type { ClientOptions } from "./options.ts";
import type { Questions } from "./questions/questions.ts";
import type { Screen } from "./screen.ts";
import type { SessionAuth } from "./sign-in/session-auth.ts";
import type { Stop } from "./stop.ts";
import type { Target } from "./target.ts";

/** An open connection and everything a command works with. */
export interface Session {
  readonly client: Client;
  readonly io: CommandIo;
  readonly screen: Screen;
  readonly options: ClientOptions;
  readonly questions: Questions;
  /** How requests are authorized; undefined for a program, and where a header of one's own does it. */
  readonly auth: SessionAuth | undefined;
  /** The options of every request: how it is cancelled, and where its progress is shown. */
  readonly request: RequestOptions;
}

/** What a command does once it is connected. */
export type Action = (session: Session) => Promise<void>;

/** What the help says of a command. */
interface Described {
  /** Its words after the name, as the help shows them. */
  readonly usage: string;
  readonly summary: string;
  /** Paragraphs for its own help. */
  readonly details: readonly string[];
  readonly examples: readonly string[];
}

/** A command of the client, from its words to what it does. */
export interface ClientCommand extends Described {
  /** Reads the words after TARGET, before anything is connected. Throws `UsageError`. */
  prepare(words: readonly string[], io: CommandIo): Action | Promise<Action>;
}

/** Where a command works that does not connect. */
export interface AccountSetting {
  readonly target: Target;
  readonly io: CommandIo;
  readonly screen: Screen;
  readonly options: ClientOptions;
  readonly stop: Stop;
}

/** A command about who one is at a server. */
export interface AccountCommand extends Described {
  run(words: readonly string[], setting: AccountSetting): Promise<void>;
}
