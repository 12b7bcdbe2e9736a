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
  readonly answered: Promise<boolean>;
  readonly stop: AbortController;
  waiting: number;
}

/** Decides which servers are started or connected to. Trust is bound to the identities of servers, and not to their names. */
export class ServerTrust {
  readonly #parts: ConsentParts;
  /** The identities of this session, by hash: trusted ones, and denied ones with their server. */
  readonly #trusted = new Set<string>();
  readonly #denied = new Map<string, string>();
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
    const identified = await this.#parts.identify(subject);
    const decide = (outcome: "allowed" | "denied", by: "configuration" | "remembered" | "no-renderer"): void =>
      this.#parts.decide({ subject: "trust", server, outcome, by });
    if (identified.identity.kind === "in-process" || policy.trust === "configured") {
      return decide("allowed", "configuration");
    }
    if (await this.#isTrusted(identified.hash)) return decide("allowed", "remembered");
    if (this.#denied.has(JSON.stringify([server, identified.hash]))) {
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
    if (!(await joinQuestion(this.#question(server, identified), signal))) throw notTrusted(server, denial);
  }

  /** Forgets the denials of this session for a server, so that the person is asked again. */
  forgetDenials(server: string): void {
    for (const [key, name] of this.#denied) if (name === server) this.#denied.delete(key);
  }

  async #isTrusted(hash: string): Promise<boolean> {
    return this.#trusted.has(hash) || (await entriesOf(this.#parts)).some((entry) => entry.hash === hash);
  }

  /** Returns the open question about a server, or asks one. */
  #question(server: string, identified: IdentifiedServer): SharedQuestion {
    const key = JSON.stringify([server, identified.hash]);
    const open = this.#questions.get(key);
    // An aborted question has no answer for a new call.
    if (open && !open.stop.signal.aborted) return open;
    const stop = new AbortController();
    const answered = askForTrust(this.#parts, { server, identified }, stop.signal)
      .then((isTrusted) => {
        if (isTrusted) this.#trusted.add(identified.hash);
        else this.#denied.set(key, server);
        return isTrusted;
      })
      .finally(() => {
        if (this.#questions.get(key) === question) this.#questions.delete(key);
      });
    const question: SharedQuestion = { answered, stop, waiting: 0 };
    this.#questions.set(key, question);
    return question;
  }
}

const denial = "the user denied it. Reconnect the server to be asked again";

/** Waits for a shared question. The question is aborted if all that wait for it are. */
async function joinQuestion(question: SharedQuestion, signal: AbortSignal): Promise<boolean> {
  question.waiting++;
  try {
    return await unlessAborted(question.answered, signal);
  } finally {
    question.waiting--;
    if (question.waiting === 0 && signal.aborted) question.stop.abort(signal.reason);
  }
}

/** Asks the person, records the decision and stores the trust. */
async function askForTrust(
  parts: ConsentParts,
  { server, identified }: { server: string; identified: IdentifiedServer },
  signal: AbortSignal,
): Promise<boolean> {
  const { identity, hash, remarks } = identified;
  const before = (await entriesOf(parts)).findLast((entry) => entry.server === server && entry.hash !== hash);
  const remarkOnChange = before ? [`Another program or address was trusted under the name "${server}" before.`] : [];
  const request: TrustRequest = {
    server,
    identity,
    previous: before && (await previousIdentity(parts.storage, before, identity)),
    remarks: [...remarkOnChange, ...remarks],
  };
  const answer = await parts.ask<TrustAnswer>(server, () => parts.renderer.trust!(request, signal), signal);
  const isTrusted = answer?.action === "trust";
  parts.decide({ subject: "trust", server, outcome: isTrusted ? "allowed" : "denied", by: "person" });
  if (!isTrusted) return false;
  // If the answer cannot be stored, it holds for this session.
  await addTrusted(parts.storage, server, { ...identified, at: parts.clock.now() }).catch((error: Error) => {
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
const hidden = "[redacted]";
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
async function addTrusted(
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
