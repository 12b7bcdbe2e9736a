/** The side of the protocol that is tested. */
export type Leg = "server" | "client";

/** A scenario of one release of the suite. */
export interface Scenario {
  /** The revisions it applies to; `extension` and `draft` are no revisions. */
  readonly versions: readonly string[];
  readonly suites?: readonly string[];
  /** The requirement sets it is in, and whether it counts there. */
  readonly sets?: Readonly<Record<string, string>>;
}

export type Scenarios = Readonly<Record<string, Readonly<Record<Leg, Readonly<Record<string, Scenario>>>>>>;

/** One invocation of the suite, in its own terms: a requirement set, or all scenarios, perhaps those of one revision. */
export interface Run {
  /** Unique. The baseline refers to the run by this id. */
  readonly id: string;
  /** The release of the suite. */
  readonly release: string;
  readonly leg: Leg;
  readonly requirements?: string;
  readonly version?: string;
  readonly scenarios: readonly string[];
  /** Some of its scenarios were left out. */
  readonly narrowed?: boolean;
}

/** One entry of a `checks.json`. */
export interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly name?: string;
  readonly description?: string;
  readonly errorMessage?: string;
}

/** The outcome of one scenario. */
export interface Outcome {
  /** Undefined if the suite wrote no checks. */
  readonly checks: readonly Check[] | undefined;
  /** Why the suite calls the scenario failed for another reason than a check, as when the client ended with an error. */
  readonly trouble?: string;
}

export interface Failure {
  readonly check: string;
  readonly message: string;
}

export type State = "passed" | "baselined" | "failed";

export interface Verdict {
  readonly run: Run;
  readonly scenario: string;
  readonly state: State;
  readonly failures: readonly Failure[];
  readonly checks: readonly Check[];
  /** The number of times that the scenario was run again. Undefined if its first run did not fail. */
  readonly repeated?: number;
}

/** Scenarios that may fail for now, with the reason. */
export interface Excuse {
  readonly reason: string;
  readonly leg: Leg;
  /** `scenario`, or `scenario:check` if only that check may fail. */
  readonly scenarios: readonly string[];
  /** The releases of the suite it is for; every one unless given. */
  readonly releases?: readonly string[];
  /** The runs it is for, by their `id`; every one unless given. */
  readonly runs?: readonly string[];
}
