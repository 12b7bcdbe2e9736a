/**
 * One published version of the protocol, as data. Shared code asks it; shared code never compares versions. How things
 * are said in it is its `Lowering`, kept apart since clients have no use for it.
 *
 * A method that is missing from a table does not exist for a peer of that revision.
 */
export interface Revision {
  readonly version: string;
  /** Legacy revisions open with `initialize`; modern ones carry everything in each request. */
  readonly era: "legacy" | "modern";
  /** The requests that a client may send. */
  readonly clientRequests: ReadonlySet<string>;
  readonly clientNotifications: ReadonlySet<string>;
  /** The questions that a server may ask: as requests where the era is legacy, inside results where it is modern. */
  readonly serverRequests: ReadonlySet<string>;
  readonly serverNotifications: ReadonlySet<string>;
  /** Several messages may arrive as one JSON array. */
  readonly batches: boolean;
  /** Dropping the stream that carries an answer cancels the request. */
  readonly dropCancels: boolean;
  /** The client names the revision in a header of each HTTP request after the first. */
  readonly versionHeader: boolean;
  /** HTTP requests carry headers that mirror the message. */
  readonly mirrorHeaders: boolean;
  /** Results say of which type they are, and carry cache hints and the server's name. */
  readonly typedResults: boolean;
  /** A dropped HTTP stream may be taken up again with `Last-Event-ID`. */
  readonly resumable: boolean;
  /** Streams begin with an event that only names an id, and may be left unfinished for the client to come back. */
  readonly polls: boolean;
  readonly resourceNotFoundCode: number;
  /** Codes beyond JSON-RPC's own that may be sent to a peer of this revision. */
  readonly errorCodes: ReadonlySet<number>;
  /** Clients ask for tasks themselves, with `params.task` (2025-11-25, basic/utilities/tasks). */
  readonly requestedTasks: boolean;
  /** Servers say by a capability that they complete arguments; before, a client could only try. */
  readonly completionsCapability: boolean;
  /** Clients say by a capability whether a question to their model may take in the context of servers. */
  readonly contextCapability: boolean;
}
