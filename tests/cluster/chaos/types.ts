/** One step of a conversation. All of its values are unique, so that a response to another step is detected. */
export type Step =
  | { does: "add"; a: number; b: number }
  | { does: "count"; to: number; pause: number }
  | { does: "ask"; tag: string }
  | { does: "think"; tag: string }
  | { does: "keep"; key: string; value: string }
  | { does: "watch"; id: string }
  | { does: "job"; tag: string; steps: number; pause: number };

/** The servers on the store. */
export type ServerName = "cluster" | "other";

export interface Conversation {
  name: string;
  server: ServerName;
  revision: string;
  steps: Step[];
}

/** A fault, with its start in milliseconds after the beginning and its duration. */
export type Fault = { at: number } & (
  | { breaks: "node"; node: number; for: number }
  | { breaks: "redis"; for: number }
  | { breaks: "connections"; node: number }
  | { breaks: "reply"; node: number }
  | { breaks: "reach"; node: number; for: number }
  | { breaks: "speed"; node: number; by: number; for: number }
  | { breaks: "pace"; node: number; for: number }
  /** The process loses its store at a step in the life of a task: `after` operations on tasks from now. */
  | { breaks: "step"; node: number; after: number; for: number }
);

export interface Plan {
  seed: number;
  conversations: Conversation[];
  faults: Fault[];
}

/** How a conversation ended. Only the first three are as they should be. */
export type Verdict =
  | "undisturbed"
  | "after repeating"
  | "failed clearly"
  | "failed unclearly"
  | "wrong"
  | "hung"
  | "lost";

export interface Outcome {
  verdict: Verdict;
  conversation: string;
  /** The failure, if any. */
  why?: string;
  /** Errors along the way, each in the words that a user would read. */
  errors: string[];
  server: ServerName;
  /** The ids of the tasks that were begun. */
  tasks: string[];
}
