/** What a pairing is tried with, in the order of the table's columns. */
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

export type Way = "stdio" | "http";
export type Era = "legacy" | "modern";

/** How a program is started. */
export interface Command {
  program: string;
  args: string[];
  env?: Record<string, string>;
}

/** Another implementation, as this matrix uses it. */
export interface Peer {
  name: string;
  /** What has to be installed for it. */
  needs: "node" | "node22" | "python" | "python-fastmcp" | "go" | "rust";
  /** What its server speaks; undefined where it has none. */
  server?: Side;
  client?: Side;
}

export interface Side {
  ways: readonly Way[];
  eras: readonly Era[];
  /** The newest legacy revision that a server of both eras speaks, where that is not the newest there is. */
  legacyRevision?: string;
  /** What the implementation has no way to do, with the reason. */
  lacks?: Partial<Record<Feature, string>>;
  /** What its server calls the things that the driver uses, where it is not a fixture of this matrix. */
  names?: Record<string, unknown>;
  /** Its arguments come after this; the way is added as the last one unless `command` says otherwise. */
  command: (place: Place) => Command;
}

/** Where things were installed. */
export interface Place {
  /** The folder of on-demand tools. */
  tools: string;
  /** The program of a Node that is new enough for this peer. */
  node: string;
  way: Way;
}

/** What became of one feature of one pairing. */
export interface Cell {
  state: "ok" | "failed" | "known" | "lacking";
  reason?: string;
}

export interface Row {
  client: string;
  server: string;
  way: Way;
  era: Era;
  /** Undefined where the pairing was not run, for the reason given. */
  cells?: Partial<Record<Feature, Cell>>;
  notRun?: string;
  /** The last lines that the two sides exchanged. */
  transcript: string[];
}

/** A failure that is the peer's own, with what shows it. */
export interface Known {
  peer: string;
  side: "client" | "server";
  ways: Way[];
  eras: Era[];
  features: Feature[];
  reason: string;
}
