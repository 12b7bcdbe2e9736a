import { join } from "node:path";
import { type Host, type HostOptions, type LanguageModel, type Renderer, createHost } from "@mcparley/host";
import type { SignIn } from "mcparley/auth";
import { type CommandIo, version } from "../terminal/io.ts";
import { patternTools } from "../commands/arguments/tool-spellings.ts";
import type { ChatOptions } from "../commands/chat.ts";
import { readRoot } from "../targets/roots.ts";
import { credentialsPlace } from "../targets/sign-in/credentials-place.ts";
import { openStorage } from "../targets/sign-in/credentials.ts";
import { configFolder } from "../terminal/user-folders.ts";
import type { StoredChat } from "./history/chat-file.ts";
import type { ChatHistory } from "./history/stored-chats.ts";
import type { ChosenModel } from "./model/open-model.ts";
import type { ChatServer } from "./servers/chat-servers.ts";
import { namedTools } from "./servers/server-names.ts";
import type { ServerOutputs } from "./servers/server-outputs.ts";

/** The parts of a chat that exist before its terminal is opened. */
export interface ChatSetting {
  readonly io: CommandIo;
  readonly options: ChatOptions;
  /** Undefined for a chat without a model. */
  readonly model: ChosenModel | undefined;
  readonly servers: readonly ChatServer[];
  readonly outputs: ServerOutputs;
  /** Undefined if conversations are not stored. */
  readonly history: ChatHistory | undefined;
  readonly resumedChat: StoredChat | undefined;
  /** The words of the command line that name the servers, and that can be stored. */
  readonly targets: readonly string[];
  /** The text of a pipe, which is the only message. Undefined if messages are read one after another. */
  readonly pipedText?: string | undefined;
  /** The other words that name the servers, without their secrets. */
  readonly leftOut: readonly string[];
}

/** The parts of a host that depend on the terminal of the chat. */
interface HostParts {
  readonly model: LanguageModel;
  /** Asks the user. Undefined if nobody can be asked: only rules then allow calls. */
  readonly renderer?: Renderer;
  readonly signIn?: SignIn | undefined;
  readonly onEvent: NonNullable<HostOptions["onEvent"]>;
  /** Shows a line, such as the wait for another process that signs in. */
  readonly note: (text: string) => void;
}

/**
 * Creates the host of a chat. The servers are trusted, because the user named them or approved their configuration. Their first
 * definitions are accepted, and later changes are reviewed.
 */
export async function chatHost(chat: ChatSetting, { note, signIn, ...parts }: HostParts): Promise<Host> {
  const { io, options, servers, model } = chat;
  let host: Host | undefined;
  host = await createHost({
    servers: Object.fromEntries(servers.map(({ name, entry }) => [name, entry])),
    info: { name: "mcparley", version },
    provider: model?.schemas ?? "common",
    folder: join(configFolder(io), "host"),
    roots: options.root.map((folder) => readRoot(folder, io)),
    policy: {
      trust: "configured",
      review: "changes",
      // They are read for each call, and the catalogue changes.
      get rules() {
        if (!host) return [];
        const named = namedTools(host);
        return options.allow
          .flatMap((pattern) => patternTools(pattern, named))
          .map((pattern) => ({ decision: "allow" as const, ...pattern }));
      },
    },
    credentials: await openStorage(credentialsPlace(io, options.keychain), { note }),
    authorization: { offlineAccess: !options.noOffline, ...(options.dpop && { dpop: true }) },
    ...(signIn && { signIn }),
    ...parts,
  });
  return host;
}
