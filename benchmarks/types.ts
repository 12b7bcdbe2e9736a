/** How a server under measurement is run. It is given as JSON, in the first argument of its program. */
export interface ServerSettings {
  way: "http" | "stdio";
  /** Stateless or in sessions as of 2025, or modern, where every request is by itself. */
  mode: Mode;
  answers: Answers;
  /** Whether there is a tool `change`, last, that tells all who listen of a change of the page. */
  hasChange?: boolean;
  /** How many tools there are in all: `echo` first, `add` second, then those of `content.mjs`. */
  tools: number;
}

export type Mode = "stateless" | "session" | "modern";
export type Answers = "json" | "sse";

/** A server that is compared. */
export interface Implementation {
  name: string;
  /** The folder of its programs: in `implementations/`, or in the folder where the packages of the peers are. */
  isPeer: boolean;
  /** What a server on stdio imports. */
  stdioImports?: readonly string[];
  /** What is installed for such a server. */
  packages?: readonly string[];
  http?: {
    modes: readonly Mode[];
    answers: readonly Answers[];
    /** What a request accepts so that its answer has that form. Both forms unless given, as clients have to. */
    accept?: Partial<Record<Answers, string>>;
  };
  stdio?: { modes: readonly Mode[] };
  /** Which requests its client makes, if it has one. */
  client?: readonly ("stateless" | "modern")[];
  /** What it has no way to do, by the beginning of the ids of workloads, with the reason. */
  lacks?: Readonly<Record<string, string>>;
}

/** One figure that a workload gives. */
export interface Measure {
  key: string;
  /** As in the head of a table, with its unit. */
  title: string;
  better: "higher" | "lower";
  /** Digits after the point. */
  digits: number;
  /** What the column of its ratio to the reference is called, if there is one. */
  ratio?: string;
}

/** The figures of one sample, by the keys of the workload's measures. */
export type Sample = Readonly<Record<string, number>>;

/** How much is asked for a sample that is taken in turns. */
export interface Amount {
  /** How long a server works before it is measured, in milliseconds of its CPU time. */
  warmup: number;
  /** How long it is measured, in milliseconds, in all turns together. */
  duration: number;
}

/** A server and its load, in new processes, which work when it is their turn and rest while it is that of others. */
export interface Turns {
  /** Works for some milliseconds, and until all that was asked is answered; gives milliseconds of CPU time. */
  turn(this: void, milliseconds: number, isCounted: boolean): Promise<number>;
  /** What came in all the turns that were counted. */
  figures(this: void): Promise<Sample>;
  end(this: void): Promise<unknown>;
}

/** What a load does in a turn: it asks until some time, as of `performance.now()`, and resolves when the last is answered. */
export type Work = (end: number, onAnswer: (milliseconds: number) => void) => Promise<unknown>;

/** What a load is told. */
export type TurnMessage = { turn: number; isCounted: boolean } | "report";

/** One of those that are compared in a workload. */
export interface Contender {
  name: string;
  /** Starts what is measured in turns with the others. Throws where it cannot, which is shown as not run. */
  start?: (this: void) => Promise<Turns>;
  /** Takes one sample, of what has no turns, in processes of its own. */
  sample?: (this: void) => Promise<Sample>;
  /** Why there is nothing to run. */
  notRun?: string;
  /** Whether it needs the packages of `peers`, although it is not one of the implementations. Default: false. */
  needsPeers?: boolean;
  /** How many of the rounds it takes part in, the first ones. All unless given. */
  rounds?: number;
}

/** Something that is done by several implementations, side by side. */
export interface Workload {
  /** Made of parts, as `call/modern/json/32`; what `--only` and the targets refer to. */
  id: string;
  section: string;
  title: string;
  /** The contender that the others are compared with. */
  reference?: string;
  /** The first is the one that the spread is of. */
  measures: readonly Measure[];
  /** Of samples that are taken in turns. */
  amount?: Amount;
  /** How many samples are taken of each contender, if it does not say less. */
  rounds: number;
  contenders: readonly Contender[];
}

/** Some samples of one figure. */
export interface Summary {
  median: number;
  lowest: number;
  highest: number;
  /** Half of the samples are this close to the median, as a share of it. */
  spread: number;
}

/** What came out for one contender. */
export interface Row {
  name: string;
  notRun?: string;
  samples: readonly Sample[];
  /** By the key of the measure. */
  figures: Readonly<Record<string, Summary>>;
  /** Of the samples, each to the sample of the reference of the same round. */
  ratios: Readonly<Record<string, Summary>>;
}

export interface WorkloadResult {
  id: string;
  section: string;
  title: string;
  reference?: string;
  measures: readonly Measure[];
  rows: readonly Row[];
}

/** What a run was made on, and with. */
export interface Environment {
  date: string;
  commit: string;
  node: string;
  platform: string;
  processor: string;
  cores: number;
  /** Where the server and the load were put. */
  pinned: string;
  load: readonly number[];
  versions: Readonly<Record<string, string>>;
}

export interface Results {
  environment: Environment;
  /** `full` or `quick`. */
  depth: string;
  seconds: number;
  workloads: readonly WorkloadResult[];
}

/** What is to be reached. */
export interface Target {
  /** The id of the workload that it is about. */
  workload: string;
  /** This library unless given. */
  contender?: string;
  measure: string;
  /** Whether the ratio to the reference is looked at, or the figure itself. */
  of: "ratio" | "figure";
  atLeast?: number;
  atMost?: number;
}

/** What the load generator is told to do. */
export interface LoadJob {
  port: number;
  connections: number;
  operation: Operation;
  /** Whether each connection opens a session of its own first, opens one for each call, or none. */
  sessions: "none" | "one" | "each";
  revision: string;
  accept: string;
}

/** A client under measurement, as its module's `connect` gives it. */
export interface BenchmarkClient {
  /** Calls the tool `echo`, and gives the text of its result. */
  echo(this: void, text: string): Promise<string>;
}

/** Where a client connects to: what it needs depends on the way. */
export interface ClientTarget {
  way: "memory" | "http" | "stdio";
  revision: string;
  url: string;
  command: string;
  args: readonly string[];
  /** The server, in memory: from a request to its response. */
  answer(this: void, request: { id: unknown; method: string; params: any }): object;
}

/** What is asked of a server on stdio. */
export interface StdioJob {
  /** The program of the server. */
  file: string;
  args: readonly string[];
  operation: Operation;
  revision: string;
  /** How many requests are sent before answers are awaited. */
  atOnce: number;
}

/** A request, and what its answer has to say. */
export interface Operation {
  name: string;
  method: string;
  params: Readonly<Record<string, unknown>>;
  /** What a modern request mirrors into `Mcp-Name`. */
  mirrored?: string;
  expected: Expected;
}

/** What is looked at in an answer: all that every implementation says alike. */
export type Expected =
  | { kind: "text"; text: string }
  | { kind: "structured"; value: unknown }
  | { kind: "tools"; names: readonly string[] }
  | { kind: "prompt"; text: string }
  | { kind: "resource"; uri: string; digest: string };

/** What the load generator reports. */
export interface LoadReport {
  answers: number;
  /** Milliseconds in which they came. */
  elapsed: number;
  /** Milliseconds between a request and the end of its answer. */
  p50: number;
  p99: number;
  /** The share of its time that the generator was at work: near 1, it is the one that is measured. */
  busy: number;
}
