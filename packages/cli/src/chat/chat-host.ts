import { join } from "node:path";
import {
  type Host,
  type HostOptions,
  type LanguageModel,
  type ProviderName,
  type Renderer,
  type Rule,
  createHost,
} from "@mcparley/host";
import type { SignIn } from "mcparley/auth";
import { type CommandIo, version } from "../client/io.ts";
import type { ClientOptions } from "../client/options.ts";
import { configFolder, credentialsPlace, openStorage } from "../client/sign-in/credentials.ts";
import { type ChatServer, readRoot } from "./servers/chat-servers.ts";

/** The parts of the host of a chat. */
export interface ChatHostSetting {
  readonly io: CommandIo;
  readonly options: ClientOptions;
  readonly servers: readonly ChatServer[];
  readonly model: LanguageModel | undefined;
  readonly schemas: ProviderName;
  /** Asks the user. Undefined if nobody can be asked: only rules then allow calls. */
  readonly renderer: Renderer | undefined;
  readonly signIn: SignIn | undefined;
  readonly onEvent?: HostOptions["onEvent"];
  /** Shows a line, such as the wait for another process that signs in. */
  readonly note: (text: string) => void;
}

/**
 * Creates the host of a chat. The servers are trusted, because the user named them or approved their configuration. Their first
 * definitions are accepted, and later changes are reviewed.
 */
export async function chatHost(setting: ChatHostSetting): Promise<Host> {
  const { io, options, servers, model, schemas, renderer, signIn, onEvent, note } = setting;
  const place = credentialsPlace(io, options.keychain);
  return createHost({
    servers: Object.fromEntries(servers.map(({ name, entry }) => [name, entry])),
    info: { name: "mcparley", version },
    provider: schemas,
    folder: join(configFolder(io), "host"),
    roots: options.roots.map((folder) => readRoot(folder, io)),
    policy: { trust: "configured", review: "changes", rules: options.allow.map(allowRule) },
    credentials: await openStorage(place, { note }),
    authorization: { offlineAccess: options.offlineAccess, ...(options.dpop && { dpop: true }) },
    ...(model && { model }),
    ...(renderer && { renderer }),
    ...(signIn && { signIn }),
    ...(onEvent && { onEvent }),
  });
}

/** Returns the rule of `--allow`: `NAME` or `SERVER:NAME`. */
function allowRule(text: string): Rule {
  const at = text.indexOf(":");
  return at < 0
    ? { decision: "allow", tool: text }
    : { decision: "allow", server: text.slice(0, at), tool: text.slice(at + 1) };
}
