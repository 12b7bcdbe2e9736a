import { Declined, redact } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import type { ConsentParts } from "./consent-parts.ts";
import type { IdentifiedServer, ServerSubject } from "./identity.ts";
import { unlessAborted } from "../async/timing.ts";
import type { TrustAnswer, TrustRequest, ServerIdentity } from "../renderer/renderer.ts";
import { secretsOf } from "../secrets/secrets-of-target.ts";
import { parseState, type StateStorage, keyedHash } from "../state/state-storage.ts";

/** A question that several calls wait for. */
interface SharedQuestion {
  readonly answer: Promise<boolean>;
  readonly stop: AbortController;
  waiting: number;
}

/** Decides which servers are started or connected to. Trust is bound to the identities of servers, and not to their names. */
export class ServerTrust {
  readonly #parts: ConsentParts;
  /** The identities of this session, by hash: trusted ones, and denied ones with their server. */
  readonly #trustedHashes = new Set<string>();
  readonly #denials = new Map<string, string>();
  readonly #questions = new Map<string, SharedQuestion>();

  constructor(parts: ConsentParts) {
    this.#parts = parts;
  }

  /**
   * Resolves if the server may be started or connected to. Rejects with `Declined` if not, and with the reason of the signal if it
   * is aborted. Calls for the same server at once share one question.
   */
  async require(subject: ServerSubject, signal: AbortSignal): Promise<void> {
    const { server } = subject;
    const { policy, renderer } = this.#parts;
    const candidate = await this.#parts.identify(subject);
    const decide = (outcome: "allowed" | "denied", reason: "configuration" | "remembered" | "no-renderer"): void =>
      this.#parts.decide({ subject: "trust", server, outcome, by: reason });
    if (candidate.identity.kind === "in-process" || policy.trust === "configured") {
      return decide("allowed", "configuration");
    }
    if (await this.#isTrusted(candidate.hash)) return decide("allowed", "remembered");
    if (this.#denials.has(JSON.stringify([server, candidate.hash]))) {
      decide("denied", "remembered");
      throw notTrusted(server, denial);
    }
    if (!renderer.trust) {
      decide("denied", "no-renderer");
      throw notTrusted(
        server,
        'the host has no renderer to ask the user. Pass `renderer.trust`, or set `trust` of the policy to "configured"',
      );
    }
    if (!(await joinQuestion(this.#question(server, candidate), signal))) throw notTrusted(server, denial);
  }

  /** Forgets the denials of this session for a server, so that the person is asked again. */
  forgetDenials(server: string): void {
    for (const [key, name] of this.#denials) if (name === server) this.#denials.delete(key);
  }

  async #isTrusted(hash: string): Promise<boolean> {
    return this.#trustedHashes.has(hash) || (await entriesOf(this.#parts)).some((entry) => entry.hash === hash);
  }

  /** Returns the open question about a server, or asks one. */
  #question(server: string, candidate: IdentifiedServer): SharedQuestion {
    const key = JSON.stringify([server, candidate.hash]);
    const open = this.#questions.get(key);
    // An aborted question has no answer for a new call.
    if (open && !open.stop.signal.aborted) return open;
    const stop = new AbortController();
    const answer = askForTrust(this.#parts, { server, candidate }, stop.signal)
      .then((isTrusted) => {
        if (isTrusted) this.#trustedHashes.add(candidate.hash);
        else this.#denials.set(key, server);
        return isTrusted;
      })
      .finally(() => {
        if (this.#questions.get(key) === question) this.#questions.delete(key);
      });
    const question: SharedQuestion = { answer, stop, waiting: 0 };
    this.#questions.set(key, question);
    return question;
  }
}

const denial = "the user denied it. Reconnect the server to be asked again";

/** Waits for a shared question. The question is aborted if all that wait for it are. */
async function joinQuestion(question: SharedQuestion, signal: AbortSignal): Promise<boolean> {
  question.waiting++;
  try {
    return await unlessAborted(question.answer, signal);
  } finally {
    question.waiting--;
    if (question.waiting === 0 && signal.aborted) question.stop.abort(signal.reason);
  }
}

/** Asks the person, records the decision and stores the trust. */
async function askForTrust(
  parts: ConsentParts,
  { server, candidate }: { server: string; candidate: IdentifiedServer },
  signal: AbortSignal,
): Promise<boolean> {
  const { identity, hash, remarks } = candidate;
  const predecessor = (await entriesOf(parts)).findLast((entry) => entry.server === server && entry.hash !== hash);
  const remarkOnChange = predecessor
    ? [`Another program or address was trusted under the name "${server}" before.`]
    : [];
  const request: TrustRequest = {
    server,
    identity,
    previous: predecessor && (await previousIdentity(parts.storage, predecessor, identity)),
    remarks: [...remarkOnChange, ...remarks],
  };
  const answer = await parts.ask<TrustAnswer>(server, () => parts.renderer.trust!(request, signal), signal);
  const isTrusted = answer?.action === "trust";
  parts.decide({ subject: "trust", server, outcome: isTrusted ? "allowed" : "denied", by: "person" });
  if (!isTrusted) return false;
  // If the answer cannot be stored, it holds for this session.
  await addTrusted(parts.storage, server, { ...candidate, time: parts.clock.now() }).catch((error: Error) => {
    parts.report(server, error);
  });
  return true;
}

/** Reads the trusted identities. If they cannot be read, none is trusted. */
async function entriesOf(parts: ConsentParts): ReturnType<typeof readTrusted> {
  try {
    return await readTrusted(parts.storage);
  } catch (error) {
    parts.report(undefined, error as Error);
    return [];
  }
}

function notTrusted(server: string, why: string): Declined {
  return new Declined(`The server ${JSON.stringify(server)} was not started or connected to: ${why}.`);
}

/** A trusted identity, with the name under which it was trusted. */
interface TrustedServer {
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
const placeholder = "[redacted]";
/** Maximum identities in the file. The oldest ones are removed, and are asked for again. */
const maxEntries = 1_000;

/** Returns the trusted identities, the oldest one first. */
async function readTrusted(storage: StateStorage): Promise<readonly TrustedServer[]> {
  const text = await storage.read(fileName);
  return text === undefined ? [] : parseState(fileName, text, isTrustFile).trusted;
}

/**
 * Returns a stored identity for the comparison with a later one. A value of a variable or a header is known only if the later identity has
 * the same one.
 */
async function previousIdentity(
  storage: StateStorage,
  { identity }: TrustedServer,
  laterIdentity: ServerIdentity,
): Promise<ServerIdentity> {
  const compare = async (hashTable: Table = {}, now: Table = {}): Promise<Record<string, string>> => {
    const hashes = await hashedTable(storage, now);
    const entries = Object.entries(hashTable).map(([name, hash]) => [
      name,
      hash === hashes[name] ? now[name]! : "(another value)",
    ]);
    return Object.fromEntries(entries) as Record<string, string>;
  };
  return {
    ...identity,
    ...(identity.environment && { environment: await compare(identity.environment, laterIdentity.environment) }),
    ...(identity.headers && { headers: await compare(identity.headers, laterIdentity.headers) }),
  };
}

/** Adds a trusted identity. Arguments that look like secrets, and values of variables and headers, are not stored in plain text. */
async function addTrusted(
  storage: StateStorage,
  server: string,
  trust: IdentifiedServer & { time: number },
): Promise<void> {
  const { command, environment, headers, ...facts } = trust.identity;
  const identity: ServerIdentity = {
    ...facts,
    ...(command && { command: withoutSecrets(command) }),
    ...(environment && { environment: await hashedTable(storage, environment) }),
    ...(headers && { headers: await hashedTable(storage, headers) }),
  };
  const entry: TrustedServer = { hash: trust.hash, server, identity, trustedAt: trust.time };
  await storage.update(fileName, (text) => {
    const present = text === undefined ? [] : parseState(fileName, text, isTrustFile).trusted;
    const otherEntries = present.filter(({ hash, server }) => hash !== entry.hash || server !== entry.server);
    const file: TrustFile = { version: 1, trusted: [...otherEntries, entry].slice(-maxEntries) };
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
    const precedingWord = words[index - 1];
    const word = secrets.reduce((result, secret) => result.replaceAll(secret, placeholder), text);
    const isNamed =
      precedingWord !== undefined && redact(`${precedingWord} ${word}`) === `${precedingWord} ${placeholder}`;
    return isNamed ? placeholder : redact(word);
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
