import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type EntryIdentity, type Scope, readTrustedFile } from "@mcparley/config";
import { hashWith, newUserKey, userKeyFile } from "@mcparley/internal/user-key";
import { Declined } from "mcparley";
import type { CommandIo } from "../terminal/io.ts";
import { stateFolder } from "../terminal/user-folders.ts";
import { type TalkSetting, isAttended, talk, whyUnasked } from "../terminal/questions/prompter.ts";
import { withUsageErrors } from "./config-problem.ts";
import { askTrust } from "./ask-trust.ts";

/** The entry of a configuration file from which a target comes. */
export interface Origin {
  readonly name: string;
  readonly scope: Scope;
  readonly entry: EntryIdentity;
}

export interface ApprovalSetting extends TalkSetting {
  readonly options: { readonly trust: boolean; readonly noInput: boolean };
}

/** The list of the trusted servers, in the user's folder for state. */
const trustedServers = "trusted-servers";

/**
 * Asks whether a server of a configuration file may be started or connected to, before its first use. The answer is remembered for
 * everything that the entry says, and not for the name of the server.
 *
 * A URL of the user's own file is only asked for if it receives variables of the environment or files. Throws `Declined` on a no, and if
 * nobody can be asked and `--trust` is not given.
 */
export async function approve({ name, scope, entry }: Origin, setting: ApprovalSetting): Promise<void> {
  const isOwnUrl = scope !== "project" && entry.kind === "url" && entry.sends.length === 0;
  if (setting.options.trust || isOwnUrl) return;
  const approvals = readApprovals(trustedServers, setting.io);
  const place = JSON.stringify([entry.file, name]);
  if (approvals.has(entry.digest)) return;
  const server = `The server ${JSON.stringify(name)} of ${entry.file}`;
  if (!isAttended(setting)) {
    throw new Declined(
      `${server} is not trusted, and ${whyUnasked(setting.options)}. ` +
        `Trust it once at a terminal, or add --trust to ${entry.kind === "command" ? "start" : "contact"} it.`,
    );
  }
  const question = { name, entry, hasChanged: approvals.has(place) };
  const isTrusted = await talk(setting, setting.stop.signal, (prompter) =>
    askTrust(question, { prompter, view: setting.screen.err }),
  );
  if (!isTrusted) throw new Declined(`${server} was not trusted.`);
  approvals.add(entry.digest, place);
}

/** What the user has approved. */
export interface Approvals {
  /** Returns whether a text was added. */
  has(this: void, text: string): boolean;
  /** Stores texts. */
  add(this: void, ...texts: readonly string[]): void;
}

/**
 * Returns the approvals in a file of the user's folder for state. It has HMACs with a key of the user, from which no text can be guessed.
 * Only the user can read both files.
 */
export function readApprovals(list: string, io: Pick<CommandIo, "env" | "platform">): Approvals {
  const folder = join(stateFolder(io), "mcparley");
  const file = join(folder, list);
  const storedHashes = withUsageErrors(() => readTrustedFile(file)?.split("\n"));
  let hash: ((text: string) => string) | undefined;
  const hashOf = (text: string): string => {
    hash ??= hashWith(withUsageErrors(() => readTrustedFile(join(folder, userKeyFile)) ?? createKey(folder)));
    return hash(text);
  };
  return {
    has: (text) => storedHashes?.includes(hashOf(text)) ?? false,
    add(...texts) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      appendFileSync(file, texts.map((text) => `${hashOf(text)}\n`).join(""), { mode: 0o600 });
    },
  };
}

/** Creates the key as a whole file, unless another process creates it at the same time. Returns the key. */
function createKey(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, userKeyFile);
  const temporary = `${file}.${randomUUID()}`;
  writeFileSync(temporary, newUserKey(), { mode: 0o600, flag: "wx" });
  try {
    linkSync(temporary, file);
  } catch (error) {
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(temporary);
  }
  return readTrustedFile(file)!;
}
