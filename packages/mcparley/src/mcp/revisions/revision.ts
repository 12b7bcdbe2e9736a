/**
 * One published version of the protocol, as data. Other code reads these members and never compares versions. Values
 * are encoded for a revision by its `Encoder`.
 *
 * A method that is missing from the sets does not exist for a peer of that revision.
 */
export interface Revision {
  /** The date that identifies the revision on the wire, such as `2026-07-28`. */
  readonly version: string;
  /**
   * `legacy`: a session starts with `initialize`. `modern`: there are no sessions, and each request is complete by itself.
   */
  readonly kind: "legacy" | "modern";
  /** The requests that a client may send. */
  readonly clientRequests: ReadonlySet<string>;
  /** The notifications that a client may send. */
  readonly clientNotifications: ReadonlySet<string>;
  /** The requests that a server may send: as messages in legacy revisions, inside results in modern ones. */
  readonly serverRequests: ReadonlySet<string>;
  /** The notifications that a server may send. */
  readonly serverNotifications: ReadonlySet<string>;
  /** Whether several messages may be sent as one JSON array. */
  readonly batches: boolean;
  /** Whether closing the stream of a response cancels the request. */
  readonly dropCancels: boolean;
  /** Whether each HTTP request after the first names the revision in a header. */
  readonly versionHeader: boolean;
  /** Whether HTTP requests have headers that mirror the message. */
  readonly mirrorHeaders: boolean;
  /** Whether results have a `resultType`, cache hints and the server's name. */
  readonly typedResults: boolean;
  /** Whether a client may resume a closed HTTP stream with `Last-Event-ID`. */
  readonly resumable: boolean;
  /**
   * Whether streams start with an event that has only an id. A server may close such a stream, and the client resumes it.
   */
  readonly polls: boolean;
  /** The error code for a resource that does not exist. */
  readonly resourceNotFoundCode: number;
  /** The error codes that the revision defines in addition to those of JSON-RPC. */
  readonly errorCodes: ReadonlySet<number>;
  /** Whether the codes -32099 to -32020 are reserved for the protocol. Before, servers could use them for custom errors. */
  readonly reservesCodes: boolean;
  /** Whether clients request tasks with `params.task` (2025-11-25, basic/utilities/tasks). */
  readonly requestedTasks: boolean;
  /** Whether servers declare completion as a capability. Before, a client could only try the request. */
  readonly completionsCapability: boolean;
  /** Whether clients declare modes: elicitation by form and by URL, sampling with tools and with the context of servers. */
  readonly inputModes: boolean;
  /** Whether `completion/complete` contains the arguments that already have a value. */
  readonly completionContext: boolean;
}
