import { redact } from "mcparley";
import { secretsOf } from "../secrets/secrets-of-target.ts";
import { parseState } from "../state/json-file.ts";
import type { StateStorage } from "../state/state-storage.ts";
import { keyedHash } from "../state/user-key.ts";
import { isObject } from "@mcparley/internal/is-object";
import type { IdentifiedServer } from "./identity.ts";
import type { ServerIdentity } from "../renderer/trust.ts";

/** A trusted identity, with the name under which it was trusted. */
export interface TrustedServer {
  /** The hash of the identity, to which the trust is bound. */
  readonly hash: string;
  readonly server: string;
  /** The identity at that time, for the comparison with a later one. The values of variables and headers are HMACs. */
  readonly identity: ServerIdentity;
  /** The time of the answer in milliseconds since 1970. */
  readonly trustedAt: number;
}

interface TrustFile {
  readonly version: 1;
  readonly trusted: readonly TrustedServer[];
}

const fileName = "trust.json";
/** The text by which `redact` replaces a secret. */
const hidden = "[redacted]";
/** Maximum identities in the file. The oldest ones are removed, and are asked for again. */
const maxEntries = 1_000;

/** Returns the trusted identities, the oldest one first. */
export async function readTrusted(storage: StateStorage): Promise<readonly TrustedServer[]> {
  const text = await storage.read(fileName);
  return text === undefined ? [] : parseState(fileName, text, isTrustFile).trusted;
}

/**
 * Returns a stored identity for the comparison with a later one. A value of a variable or a header is known only if the later identity has
 * the same one.
 */
export async function previousIdentity(
  storage: StateStorage,
  { identity }: TrustedServer,
  later: ServerIdentity,
): Promise<ServerIdentity> {
  const compare = async (stored: Table = {}, now: Table = {}): Promise<Record<string, string>> => {
    const hashes = await hashedTable(storage, now);
    const entries = Object.entries(stored).map(([name, hash]) => [
      name,
      hash === hashes[name] ? now[name]! : "(another value)",
    ]);
    return Object.fromEntries(entries) as Record<string, string>;
  };
  return {
    ...identity,
    ...(identity.environment && { environment: await compare(identity.environment, later.environment) }),
    ...(identity.headers && { headers: await compare(identity.headers, later.headers) }),
  };
}

/** Adds a trusted identity. Arguments that look like secrets, and values of variables and headers, are not stored in plain text. */
export async function addTrusted(
  storage: StateStorage,
  server: string,
  trust: IdentifiedServer & { at: number },
): Promise<void> {
  const { command, environment, headers, ...others } = trust.identity;
  const identity: ServerIdentity = {
    ...others,
    ...(command && { command: withoutSecrets(command) }),
    ...(environment && { environment: await hashedTable(storage, environment) }),
    ...(headers && { headers: await hashedTable(storage, headers) }),
  };
  const entry: TrustedServer = { hash: trust.hash, server, identity, trustedAt: trust.at };
  await storage.update(fileName, (before) => {
    const present = before === undefined ? [] : parseState(fileName, before, isTrustFile).trusted;
    const others = present.filter(({ hash, server }) => hash !== entry.hash || server !== entry.server);
    const file: TrustFile = { version: 1, trusted: [...others, entry].slice(-maxEntries) };
    return `${JSON.stringify(file, null, 2)}\n`;
  });
}

type Table = Readonly<Record<string, string>>;

async function hashedTable(storage: StateStorage, table: Table): Promise<Record<string, string>> {
  const entries = Object.entries(table);
  if (entries.length === 0) return {};
  const hash = await keyedHash(storage);
  return Object.fromEntries(entries.map(([name, value]) => [name, hash(`${name}=${value}`)]));
}

/** A secret is recognized by its form, by the name before it, and by the option before it: `--token abc`. */
function withoutSecrets(words: readonly string[]): string[] {
  const [command = "", ...args] = words;
  const secrets = secretsOf({ command, args }).filter((secret) => secret !== "");
  return words.map((text, index) => {
    const before = words[index - 1];
    const word = secrets.reduce((rest, secret) => rest.replaceAll(secret, hidden), text);
    const isNamed = before !== undefined && redact(`${before} ${word}`) === `${before} ${hidden}`;
    return isNamed ? hidden : redact(word);
  });
}

function isTrustFile(value: unknown): value is TrustFile {
  return isObject(value) && value.version === 1 && Array.isArray(value.trusted) && value.trusted.every(isTrusted);
}

function isTrusted(value: unknown): value is TrustedServer {
  return (
    isObject(value) && typeof value.hash === "string" && typeof value.server === "string" && isObject(value.identity)
  );
}
