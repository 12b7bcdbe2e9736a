/** Settings of a measured server. The first argument of its program contains them as JSON. */
export interface ServerSettings {
  way: "http" | "stdio";
  /** Requests of 2025 without or with sessions, or of 2026-07-28, which are independent. */
  mode: Mode;
  answers: Answers;
  /** Whether the last tool is `change`, which notifies all subscribers of a change of the page. */
  hasChange?: boolean;
  /** The number of tools: `echo`, `add`, then those of `content.mjs`. */
  tools: number;
  /** The program that runs the server. Default: this Node. */
  runtime?: string;
}

export type Mode = "stateless" | "session" | "modern";
export type Answers = "json" | "sse";

/** An implementation to compare. */
export interface Implementation {
  name: string;
  /** Whether its programs are in the folder of the installed peers. Otherwise they are in `implementations/`. */
  isPeer: boolean;
  /** The modules that a server on stdio imports. */
  stdioImports?: readonly string[];
  /** The packages of such a server. */
  packages?: readonly string[];
  http?: {
    modes: readonly Mode[];
    answers: readonly Answers[];
    /** The `Accept` header for answers of each form. Default: both forms, as the specification requires. */
    accept?: Partial<Record<Answers, string>>;
  };
  stdio?: { modes: readonly Mode[] };
  /** The reasons why it cannot run some workloads, by the start of their ids. */
  lacks?: Readonly<Record<string, string>>;
}

/** The transport of a measured client, and the requests that it sends. */
export type ClientWay = "memory" | "http" | "stdio";
export type ClientMode = "stateless" | "modern";

/** A client to compare: that of a library, or one without a library. */
export interface ClientImplementation {
  name: string;
  /** Whether its module is in the folder of the installed peers. Otherwise it is in `implementations/`. */
  isPeer: boolean;
  /** Whether it sends requests with the global `fetch`. Default: false. */
  usesFetch?: boolean;
  /** The requests that it can send, by transport. */
  modes: Readonly<Partial<Record<ClientWay, readonly ClientMode[]>>>;
}

/** One figure of a workload. */
export interface Measure {
  key: string;
  /** The title of its column, with the unit. */
  title: string;
  better: "higher" | "lower";
  /** Digits after the point. */
  digits: number;
  /** The title of the column with the ratio to the reference, if the table has one. */
  ratio?: string;
}

/** The figures of one sample, by the keys of the workload's measures. */
export type Sample = Readonly<Record<string, number>>;

/** The extent of a sample that is taken in turns. */
export interface Amount {
  /** The warm-up of the server, in milliseconds of its CPU time. */
  warmup: number;
  /** The duration of all turns together, in milliseconds. */
  duration: number;
}

/** A server and its load in new processes, which work only in their turns. */
export interface Turns {
  /** Works for some milliseconds and until all requests are answered. Resolves with the milliseconds of CPU time. */
  turn(this: void, milliseconds: number, isCounted: boolean): Promise<number>;
  /** Resolves with the figures of all counted turns. */
  figures(this: void): Promise<Sample>;
  end(this: void): Promise<unknown>;
}

/** The work of a load in one turn. It sends requests until `end` (a time of `performance.now()`), and resolves when the last is answered. */
export type Work = (end: number, onAnswer: (milliseconds: number) => void) => Promise<unknown>;

/** A message to a load. */
export type TurnMessage = { turn: number; isCounted: boolean } | "report";

/** One implementation of a workload. */
export interface Contender {
  name: string;
  /** Starts a contender that is measured in turns. If it throws, the contender is reported as not run. */
  start?: (this: void) => Promise<Turns>;
  /** Takes one sample of a contender without turns, in new processes. */
  sample?: (this: void) => Promise<Sample>;
  /** The reason why the contender cannot run. */
  notRun?: string;
  /** Whether it needs the packages of `peers`, although it is not one of the implementations. Default: false. */
  needsPeers?: boolean;
  /** The number of rounds in which it takes part. Default: all. */
  rounds?: number;
  /** Its warm-up in milliseconds of CPU time. Default: that of the workload. */
  warmup?: number;
}

/** A piece of work that several implementations do side by side. */
export interface Workload {
  /** Consists of parts, for example `call/modern/json/32`. `--only` and the targets refer to it. */
  id: string;
  section: string;
  title: string;
  /** The contender that the others are compared with. */
  reference?: string;
  /** The spread is that of the first measure. */
  measures: readonly Measure[];
  /** The extent of samples that are taken in turns. */
  amount?: Amount;
  /** The number of samples of each contender, unless the contender has a lower one. */
  rounds: number;
  contenders: readonly Contender[];
}

/** Some samples of one figure. */
export interface Summary {
  median: number;
  lowest: number;
  highest: number;
  /** The distance from the median within which half of the samples are, as a share of the median. */
  spread: number;
}

/** The results of one contender. */
export interface Row {
  name: string;
  notRun?: string;
  samples: readonly Sample[];
  /** By the key of the measure. */
  figures: Readonly<Record<string, Summary>>;
  /** The ratios of the samples to the samples of the reference in the same round. */
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

/** The machine and the versions of a run. */
export interface Environment {
  date: string;
  commit: string;
  node: string;
  platform: string;
  processor: string;
  cores: number;
  /** The cores of the server and the load. */
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

/** A target for one figure. */
export interface Target {
  /** The id of its workload, or the start of the ids of several workloads and a `*`. */
  workload: string;
  /** Default: mcparley. */
  contender?: string;
  measure: string;
  /** Whether the target applies to a ratio, or to the figure itself. */
  of: "ratio" | "figure";
  /** The contender that a ratio is to. Default: the reference of the workload. */
  to?: string;
  atLeast?: number;
  atMost?: number;
  /** Why the target differs from that of similar workloads. */
  reason?: string;
}

/** The job of the load generator. */
export interface LoadJob {
  port: number;
  connections: number;
  operation: Operation;
  /** Whether each connection opens a session of its own first, opens one for each call, or none. */
  sessions: "none" | "one" | "each";
  revision: string;
  accept: string;
}

/** A measured client, as returned by `connect` of its module. */
export interface BenchmarkClient {
  /** Calls the tool `echo`, and resolves with the text of its result. */
  echo(this: void, text: string): Promise<string>;
  /** Lists the tools with a new request. */
  listTools(this: void): Promise<readonly { name: string }[]>;
}

/** The operation that a measured client repeats, and the number of operations in flight. */
export interface ClientWork {
  operation: "call" | "list";
  atOnce: number;
}

/** The server of a client. `way` decides which members are used. */
export interface ClientTarget {
  way: ClientWay;
  revision: string;
  url: string;
  command: string;
  args: readonly string[];
  /** The server in memory: returns the response to a request. */
  answer(this: void, request: { id: unknown; method: string; params: any }): object;
}

/** The job of the load of a server on stdio. */
export interface StdioJob {
  /** The program of the server. */
  file: string;
  args: readonly string[];
  operation: Operation;
  revision: string;
  /** How many requests are sent before answers are awaited. */
  atOnce: number;
}

/** A request and its expected answer. */
export interface Operation {
  name: string;
  method: string;
  params: Readonly<Record<string, unknown>>;
  /** The value of the header `Mcp-Name` of a modern request. */
  mirrored?: string;
  expected: Expected;
}

/** The checked part of an answer, which is equal in all implementations. */
export type Expected =
  | { kind: "text"; text: string }
  | { kind: "structured"; value: unknown }
  | { kind: "tools"; names: readonly string[] }
  | { kind: "prompt"; text: string }
  | { kind: "resource"; uri: string; digest: string };

/** The report of the load generator. */
export interface LoadReport {
  answers: number;
  /** Milliseconds from the first request to the last answer. */
  elapsed: number;
  /** Milliseconds between a request and the end of its answer. */
  p50: number;
  p99: number;
  /** The share of time in which the generator was busy. If it is near 1, the generator limits the result. */
  busy: number;
}
