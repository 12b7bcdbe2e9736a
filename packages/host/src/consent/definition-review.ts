import type { ServerLists } from "../catalogue/catalogue.ts";
import { type ConsentParts, type QuestionQueue, createQuestionQueue } from "./consent-parts.ts";
import type { DecisionRecord } from "./policy.ts";
import {
  type Definitions,
  type LiveDefinition,
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

/** Compares the definitions of servers with the accepted ones. */
export interface DefinitionReview {
  review(subject: ReviewSubject, signal: AbortSignal): Promise<ReviewOutcome>;
  /** Returns whether a definition is the one that the server has now, and is accepted. */
  isUsable(server: string, kind: DefinitionKind, named: { name: string; definition: unknown }): boolean;
  /** Returns the hash of the server's identity with the last review. Undefined before the first one. */
  identity(server: string): string | undefined;
  /** Forgets the denials of this session for a server, so that the person is asked again. */
  forgetDenials(server: string): void;
  /** Forgets the definitions of a server. None is usable until the next review. */
  forget(server: string): void;
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
  accepted: Map<string, string>;
  /** Accepted definitions that could not be stored. */
  readonly unstored: Map<string, string>;
  /** Resolves when the accepted definitions of the last review are stored. Never rejects. */
  storing: Promise<void>;
  /** Denied definitions, and those that nobody could be asked for: key and hash. */
  readonly denied: Set<string>;
  /** Whether the first list was reviewed. */
  hasReviewed: boolean;
}

/** Maximum denials of definitions that the server does not have any more. The oldest ones are asked for again. */
const maxAbsentDenials = 1_000;

type By = DecisionRecord["by"];

export function definitionReview(parts: ConsentParts): DefinitionReview {
  const states = new Map<string, ReviewState>();

  const stateOf = (server: string): ReviewState => {
    const present = states.get(server);
    if (present) return present;
    const made: ReviewState = {
      reviews: createQuestionQueue(),
      identity: undefined,
      live: new Map(),
      accepted: new Map(),
      unstored: new Map(),
      storing: Promise.resolve(),
      denied: new Set(),
      hasReviewed: false,
    };
    states.set(server, made);
    return made;
  };

  const isUsable: DefinitionReview["isUsable"] = (server, kind, { name, definition }) => {
    const state = states.get(server);
    const key = definitionKey(kind, name);
    const live = state?.live.get(key);
    return (
      live !== undefined && state?.accepted.get(key) === live.hash && hashOrUndefined(kind, definition) === live.hash
    );
  };

  return {
    isUsable,
    identity: (server) => states.get(server)?.identity,
    review(subject, signal) {
      const state = stateOf(subject.server);
      // At once, so that a changed definition is not called while the person reviews it.
      const live = liveDefinitions(subject, (error) => parts.report(subject.server, error));
      state.live = live;
      return state.reviews(async () => {
        const waiting = await reviewChanges(parts, { subject, state, live }, signal);
        const isAccepted = (kind: DefinitionKind, name: string, definition: unknown): boolean =>
          isUsable(subject.server, kind, { name, definition });
        return { ...usableOnly(subject, isAccepted), waiting };
      }, signal);
    },
    forgetDenials: (server) => states.get(server)?.denied.clear(),
    forget: (server) => void states.delete(server),
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

interface Reviewing {
  readonly subject: ReviewSubject;
  readonly state: ReviewState;
  readonly live: ReadonlyMap<string, LiveDefinition>;
}

/** Decides on the changes since the last review, and returns those that are not accepted. */
async function reviewChanges(
  parts: ConsentParts,
  { subject, state, live }: Reviewing,
  signal: AbortSignal,
): Promise<DefinitionChange[]> {
  const { server } = subject;
  // A review that is aborted still stores what was accepted. Without it, all of that would be new.
  await state.storing;
  const identity = (await parts.identify(subject)).hash;
  const pinned: PinnedServer = { server, identity };
  const stored = await readOrReport(parts, pinned);
  // A later review may have started.
  signal.throwIfAborted();
  state.identity = identity;
  const pins: Pins = stored?.pins ?? new Map();
  state.accepted = new Map([...pins].map(([key, { hash }]) => [key, hash]));
  for (const [key, hash] of state.unstored) state.accepted.set(key, hash);
  const changes = changesSince(pins, live).filter(
    (change) => state.accepted.get(changeKey(change)) !== hashIn(live, change),
  );
  // If the pins cannot be read, nothing is accepted and nothing is written.
  if (!stored) return changes;

  // If the first list could not be stored, the next one is not the first one.
  const isFirst = stored.pins === undefined && !state.hasReviewed;
  const { accepted, by } = await decideOn(parts, { server, state, live, isFirst, changes }, signal);
  state.hasReviewed = true;
  for (const change of changes) {
    const isAccepted = accepted.includes(change);
    const isKnown = state.denied.has(`${changeKey(change)} ${hashIn(live, change)}`);
    if (isAccepted) state.accepted.set(changeKey(change), hashIn(live, change));
    else state.denied.add(`${changeKey(change)} ${hashIn(live, change)}`);
    if (isKnown && !isAccepted) continue;
    parts.decide({ subject: "definition", server, name: change.name, outcome: isAccepted ? "allowed" : "denied", by });
  }
  forgetAbsentDenials(state, live);
  if (accepted.length > 0 || (isFirst && parts.policy.review === "changes")) {
    const acceptedBy = by === "configuration" ? by : "person";
    state.storing = addPins(parts.storage, pinned, { accepted, by: acceptedBy, live }).catch((error: Error) => {
      for (const change of accepted) state.unstored.set(changeKey(change), hashIn(live, change));
      parts.report(server, error);
    });
    await state.storing;
  }
  return changes.filter((change) => !accepted.includes(change));
}

/** A server that changes its definitions all the time must not fill the memory. */
function forgetAbsentDenials({ denied }: ReviewState, live: Reviewing["live"]): void {
  const present = new Set([...live].map(([key, { hash }]) => `${key} ${hash}`));
  const absent = [...denied].filter((denial) => !present.has(denial));
  for (const oldest of absent.slice(0, -maxAbsentDenials)) denied.delete(oldest);
}

interface Deciding {
  readonly server: string;
  readonly state: ReviewState;
  readonly live: ReadonlyMap<string, LiveDefinition>;
  readonly isFirst: boolean;
  readonly changes: readonly DefinitionChange[];
}

/** Returns the accepted changes. All changes are one question, and a denied one is not asked for again. */
async function decideOn(
  parts: ConsentParts,
  { server, state, live, isFirst, changes }: Deciding,
  signal: AbortSignal,
): Promise<{ accepted: readonly DefinitionChange[]; by: By }> {
  if (isFirst && parts.policy.review === "changes") return { accepted: changes, by: "configuration" };
  const { review } = parts.renderer;
  if (!review) return { accepted: [], by: "no-renderer" };
  const open = changes.filter((change) => !state.denied.has(`${changeKey(change)} ${hashIn(live, change)}`));
  if (open.length === 0) return { accepted: [], by: "person" };
  const question = async (): Promise<readonly DefinitionChange[]> =>
    acceptedIn(await review({ server, changes: open }, signal), open);
  return { accepted: (await parts.ask(server, question, signal)) ?? [], by: "person" };
}

/** A renderer in another process returns copies of the changes, so they are compared by their keys. */
function acceptedIn({ accepted }: ReviewAnswer, open: readonly DefinitionChange[]): readonly DefinitionChange[] {
  if (accepted === "all") return open;
  const keys = new Set(accepted.map(changeKey));
  return open.filter((change) => keys.has(changeKey(change)));
}

async function readOrReport(
  parts: ConsentParts,
  pinned: PinnedServer,
): Promise<{ pins: Pins | undefined } | undefined> {
  try {
    return { pins: await readPins(parts.storage, pinned, parts.policy.review) };
  } catch (error) {
    parts.report(pinned.server, error as Error);
    return undefined;
  }
}

function changeKey({ kind, name }: DefinitionChange): string {
  return definitionKey(kind, name);
}

function hashIn(live: ReadonlyMap<string, LiveDefinition>, change: DefinitionChange): string {
  return live.get(changeKey(change))!.hash;
}
