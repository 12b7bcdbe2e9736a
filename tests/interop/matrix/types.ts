/** The tried features, in the order of the table's columns. */
export type Feature =
  | "lifecycle"
  | "tools"
  | "prompts"
  | "resources"
  | "completion"
  | "progress"
  | "cancel"
  | "elicitation"
  | "sampling"
  | "subscriptions"
  | "close";

/** `port`: the messages between a page and its Web Worker. One program starts both. */
export type TransportKind = "stdio" | "http" | "port";
export type RevisionKind = "legacy" | "modern";

/** How a program is started. */
export interface Command {
  program: string;
  args: string[];
  env?: Record<string, string>;
}

/** Another implementation, as this matrix uses it. */
export interface Peer {
  name: string;
  /** The installation that it needs. */
  needs: "node" | "node22" | "python" | "python-v1" | "python-fastmcp" | "go" | "rust";
  /** How to start its server. Undefined if the peer has no server. */
  server?: Side;
  client?: Side;
}

export interface Side {
  transports: readonly TransportKind[];
  revisionKinds: readonly RevisionKind[];
  /** The newest legacy revision of a server that supports both kinds, if it is not the newest legacy revision. */
  legacyRevision?: string;
  /** The features that the implementation lacks, with the reason. */
  lacks?: Partial<Record<Feature, string>>;
  /** The names in its server, if it is not a fixture of this matrix. */
  names?: Record<string, unknown>;
  /** Its arguments follow. The transport is added as the last one, unless `command` is set. */
  command: (place: Place) => Command;
}

/** Where things were installed. */
export interface Place {
  /** The folder of on-demand tools. */
  tools: string;
  /** The program of a Node that is new enough for this peer. */
  node: string;
  transport: TransportKind;
}

/** The outcome of one feature of one pairing. */
export interface Cell {
  state: "ok" | "failed" | "known" | "lacking";
  reason?: string;
}

export interface Row {
  client: string;
  server: string;
  transport: TransportKind;
  revisionKind: RevisionKind;
  /** The revision, if the pairing fixes it. */
  revision?: string;
  /** Undefined if the pairing was not run, for the given reason. */
  cells?: Partial<Record<Feature, Cell>>;
  notRun?: string;
  /** The last lines that the two sides exchanged. */
  transcript: string[];
  /** The output of the server on stderr, over HTTP. */
  complaints?: string[];
}

/** A failure that the peer causes, with its evidence. */
export interface Known {
  peer: string;
  side: "client" | "server";
  transports: TransportKind[];
  revisionKinds: RevisionKind[];
  /** Restricts the note to these revisions. */
  revisions?: string[];
  features: Feature[];
  reason: string;
}
