/**
 * One published version of the protocol, as data. Other code reads these members and never compares versions. Values
 * are encoded for a revision by its `Encoder`.
 *
 * A method that is missing from the sets does not exist for a peer of that revision.
 */
export interface Revision {
  readonly version: string;
  /** Legacy revisions start with `initialize`. In modern revisions each request is complete by itself. */
  readonly kind: "legacy" | "modern";
  /** The requests that a client may send. */
  readonly clientRequests: ReadonlySet<string>;
  readonly clientNotifications: ReadonlySet<string>;
  /** The requests that a server may send: as messages in legacy revisions, inside results in modern ones. */
  readonly serverRequests: ReadonlySet<string>;
  readonly serverNotifications: ReadonlySet<string>;
  /** Several messages may arrive as one JSON array. */
  readonly batches: boolean;
  /** Closing the stream of a response cancels the request. */
  readonly dropCancels: boolean;
  /** The client names the revision in a header of each HTTP request after the first. */
  readonly versionHeader: boolean;
  /** HTTP requests have headers that mirror the message. */
  readonly mirrorHeaders: boolean;
  /** Results have a `resultType`, cache hints and the server's name. */
  readonly typedResults: boolean;
  /** A client may resume a closed HTTP stream with `Last-Event-ID`. */
  readonly resumable: boolean;
  /** Streams start with an event that has only an id, and a server may close them early for the client to resume. */
  readonly polls: boolean;
  readonly resourceNotFoundCode: number;
  /** Codes beyond those of JSON-RPC that the revision defines. */
  readonly errorCodes: ReadonlySet<number>;
  /** The codes -32099 to -32020 are reserved for the protocol. Earlier, servers could use them for their own errors. */
  readonly reservesCodes: boolean;
  /** Clients request tasks with `params.task` (2025-11-25, basic/utilities/tasks). */
  readonly requestedTasks: boolean;
  /** Servers declare completion as a capability. Earlier, a client could only try. */
  readonly completionsCapability: boolean;
  /** Clients declare whether sampling may include the context of servers. */
  readonly contextCapability: boolean;
  /** `completion/complete` has the arguments that are filled in already. */
  readonly completionContext: boolean;
}
