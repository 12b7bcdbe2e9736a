import type { ServerLists } from "../catalogue/catalogue.ts";
import { type ConsentParts, type QuestionQueue, createQuestionQueue } from "./consent-parts.ts";
import type { DecisionRecord } from "./policy.ts";
import {
  type Definitions,
  type LiveDefinition,
  type NamedDefinition,
  definitionKey,
  liveDefinitions,
  liveHash,
  usableOnly,
} from "./definitions.ts";
import type { ServerSubject } from "./identity.ts";
import { type PinnedServer, type Pins, addPins, changesSince, readPins } from "./pins.ts";
import type { DefinitionChange, DefinitionKind, ReviewAnswer } from "../renderer/renderer.ts";

/** A server with its definitions. */
export interface ReviewSubject extends Definitions, ServerSubject {}

/** The definitions that can be used after a review. */
export interface ReviewOutcome {
  /** The lists without the definitions that are not accepted. */
  readonly lists: ServerLists;
  /** The instructions of the server, if they are accepted. */
  readonly instructions: string | undefined;
  /** The definitions that are not accepted. */
  readonly waiting: readonly DefinitionChange[];
}

/** The definitions of one server in this session. */
interface ReviewState {
  /** One review after another, because the second one depends on the answer to the first one. */
  readonly reviews: QuestionQueue;
  /** The hash of the server's identity. Definitions are accepted for it only. */
  identity: string | undefined;
  /** The definitions of the newest lists. */
  live: ReadonlyMap<string, LiveDefinition>;
  /** The hashes of accepted definitions by their keys. */
  acceptedHashes: Map<string, string>;
  /** Accepted definitions that could not be stored. */
  readonly unstoredHashes: Map<string, string>;
  /** Resolves when the accepted definitions of the last review are stored. Never rejects. */
  storing: Promise<void>;
  /** Denied definitions, and those that nobody could be asked for: key and hash. */
  readonly denials: Set<string>;
  /** Whether the first list was reviewed. */
  hasReviewed: boolean;
}

/** Maximum denials of definitions that the server does not have any more. The oldest ones are asked for again. */
const maxAbsentDenials = 1_000;

/** One review: the server, its state, its definitions, and those that differ from the accepted ones. */
interface Review {
  readonly subject: ReviewSubject;
  readonly state: ReviewState;
  readonly live: ReadonlyMap<string, LiveDefinition>;
}

/** Compares the definitions of servers with the accepted ones. */
export class DefinitionReview {
  readonly #parts: ConsentParts;
  readonly #states = new Map<string, ReviewState>();

  constructor(parts: ConsentParts) {
    this.#parts = parts;
  }

  /**
   * Compares the definitions of a server with the accepted ones, asks for the changes, and returns those that can be used. Changed
   * definitions cannot be called from the start of this call on. Rejects only with the reason of the signal.
   */
  review(subject: ReviewSubject, signal: AbortSignal): Promise<ReviewOutcome> {
    const { server } = subject;
    const state = this.#states.get(server) ?? newState();
    this.#states.set(server, state);
    // At once, so that a changed definition is not called while the person reviews it.
    const live = liveDefinitions(subject, (error) => this.#parts.report(server, error));
    state.live = live;
    return state.reviews(async () => {
      const waiting = await this.#reviewChanges({ subject, state, live }, signal);
      return { ...usableOnly(subject, (kind, definition) => this.isUsable(server, kind, definition)), waiting };
    }, signal);
  }

  /** Returns whether a definition is the one that the server has now, and is accepted. */
  isUsable(server: string, kind: DefinitionKind, { name, definition }: NamedDefinition): boolean {
    const state = this.#states.get(server);
    const key = definitionKey(kind, name);
    const hash = state?.live.get(key)?.hash;
    return hash !== undefined && state?.acceptedHashes.get(key) === hash && hashOrUndefined(kind, definition) === hash;
  }

  /** Returns the hash of the server's identity with the last review. Undefined before the first one. */
  identity(server: string): string | undefined {
    return this.#states.get(server)?.identity;
  }

  /** Forgets the denials of this session for a server, so that the person is asked again. */
  forgetDenials(server: string): void {
    this.#states.get(server)?.denials.clear();
  }

  /** Forgets the definitions of a server. None is usable until the next review. */
  forget(server: string): void {
    this.#states.delete(server);
  }

  /** Decides on the changes since the last review, and returns those that are not accepted. */
  async #reviewChanges({ subject, state, live }: Review, signal: AbortSignal): Promise<DefinitionChange[]> {
    const { decide, identify, policy, report, storage } = this.#parts;
    const { server } = subject;
    // A review that is aborted still stores what was accepted. Without it, all of that would be new.
    await state.storing;
    const identity = (await identify(subject)).hash;
    const pinnedServer: PinnedServer = { server, identity };
    const reading = await this.#readOrReport(pinnedServer);
    // A later review may have started.
    signal.throwIfAborted();
    state.identity = identity;
    const pins: Pins = reading?.pins ?? new Map();
    state.acceptedHashes = new Map([
      ...[...pins].map(([key, { hash }]) => [key, hash] as const),
      ...state.unstoredHashes,
    ]);
    const changes = changesSince(pins, live).filter(
      (change) => state.acceptedHashes.get(changeKey(change)) !== hashIn(live, change),
    );
    // If the pins cannot be read, nothing is accepted and nothing is written.
    if (!reading) return changes;
    // If the first list could not be stored, the next one is not the first one.
    const acceptsUnseen = reading.pins === undefined && !state.hasReviewed && policy.review === "changes";
    const { acceptedChanges, by } = acceptsUnseen
      ? { acceptedChanges: changes, by: "configuration" as const }
      : await this.#ask({ subject, state, live }, changes, signal);
    state.hasReviewed = true;
    for (const change of changes) {
      const isAccepted = acceptedChanges.includes(change);
      const denial = denialOf(live, change);
      const wasDenied = state.denials.has(denial);
      if (isAccepted) state.acceptedHashes.set(changeKey(change), hashIn(live, change));
      else state.denials.add(denial);
      if (wasDenied && !isAccepted) continue;
      decide({ subject: "definition", server, name: change.name, outcome: isAccepted ? "allowed" : "denied", by });
    }
    forgetAbsentDenials(state, live);
    if (acceptedChanges.length > 0 || acceptsUnseen) {
      const acceptedBy = by === "configuration" ? by : "person";
      state.storing = addPins(storage, pinnedServer, { changes: acceptedChanges, by: acceptedBy, live }).catch(
        (error: Error) => {
          for (const change of acceptedChanges) state.unstoredHashes.set(changeKey(change), hashIn(live, change));
          report(server, error);
        },
      );
      await state.storing;
    }
    return changes.filter((change) => !acceptedChanges.includes(change));
  }

  /** Returns the accepted changes. All changes are one question, and a denied one is not asked for again. */
  async #ask(
    { subject: { server }, state, live }: Review,
    changes: readonly DefinitionChange[],
    signal: AbortSignal,
  ): Promise<{ acceptedChanges: readonly DefinitionChange[]; by: DecisionRecord["by"] }> {
    const { review } = this.#parts.renderer;
    if (!review) return { acceptedChanges: [], by: "no-renderer" };
    const open = changes.filter((change) => !state.denials.has(denialOf(live, change)));
    if (open.length === 0) return { acceptedChanges: [], by: "person" };
    const question = async (): Promise<readonly DefinitionChange[]> =>
      acceptedIn(await review({ server, changes: open }, signal), open);
    return { acceptedChanges: (await this.#parts.ask(server, question, signal)) ?? [], by: "person" };
  }

  async #readOrReport(pinnedServer: PinnedServer): Promise<{ pins: Pins | undefined } | undefined> {
    try {
      return { pins: await readPins(this.#parts.storage, pinnedServer, this.#parts.policy.review) };
    } catch (error) {
      this.#parts.report(pinnedServer.server, error as Error);
      return undefined;
    }
  }
}

function newState(): ReviewState {
  return {
    reviews: createQuestionQueue(),
    identity: undefined,
    live: new Map(),
    acceptedHashes: new Map(),
    unstoredHashes: new Map(),
    storing: Promise.resolve(),
    denials: new Set(),
    hasReviewed: false,
  };
}

/** A deeply nested definition has no hash. */
function hashOrUndefined(kind: DefinitionKind, definition: unknown): string | undefined {
  try {
    return liveHash(kind, definition);
  } catch {
    return undefined;
  }
}

/** A server that changes its definitions all the time must not fill the memory. */
function forgetAbsentDenials({ denials }: ReviewState, live: Review["live"]): void {
  const present = new Set([...live].map(([key, { hash }]) => `${key} ${hash}`));
  const absent = [...denials].filter((denial) => !present.has(denial));
  for (const oldest of absent.slice(0, -maxAbsentDenials)) denials.delete(oldest);
}

/** A renderer in another process returns copies of the changes, so they are compared by their keys. */
function acceptedIn({ accepted }: ReviewAnswer, open: readonly DefinitionChange[]): readonly DefinitionChange[] {
  if (accepted === "all") return open;
  const keys = new Set(accepted.map(changeKey));
  return open.filter((change) => keys.has(changeKey(change)));
}

function changeKey({ kind, name }: DefinitionChange): string {
  return definitionKey(kind, name);
}

function hashIn(live: Review["live"], change: DefinitionChange): string {
  return live.get(changeKey(change))!.hash;
}

/** Returns the entry of a change in the denials. */
function denialOf(live: Review["live"], change: DefinitionChange): string {
  return `${changeKey(change)} ${hashIn(live, change)}`;
}
