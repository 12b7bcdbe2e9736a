import fc from "fast-check";
import { toolNames } from "./subject.ts";

type Bare =
  | "list"
  | "ping"
  | "read"
  | "prompt"
  | "listen"
  | "change"
  | "disconnect"
  | "closeClient"
  | "closeServer"
  | "turn";

/** The possible next steps between a client and a server. Numbers choose among the items that exist at the time. */
export type Step =
  | { do: "call"; tool: (typeof toolNames)[number]; idle: number | undefined; progress: boolean }
  | { do: Bare }
  | { do: "cancel" | "open" | "report" | "unlisten"; which: number }
  | { do: "pass"; ms: number };

const which = fc.nat(5);
const bare = (...names: Bare[]): fc.Arbitrary<Step> => fc.record({ do: fc.constantFrom(...names) });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("call" as const),
      tool: fc.constantFrom(...toolNames),
      idle: fc.constantFrom(undefined, undefined, 5, 1_000),
      progress: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom("cancel" as const, "open", "report", "unlisten"), which }) },
  { weight: 4, arbitrary: bare("list", "ping", "read", "prompt", "listen", "change", "turn", "turn") },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(1, 10, 2_000, 20_000) }) },
  { weight: 1, arbitrary: bare("disconnect", "disconnect", "disconnect", "closeClient", "closeServer") },
);

/** A sequence of steps, and the user's answers to input requests. */
export interface Story {
  steps: Step[];
  answers: ("accept" | "decline" | "wait" | "fail")[];
}

export const story: fc.Arbitrary<Story> = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 25 }),
  answers: fc.array(fc.constantFrom("accept", "decline", "wait", "fail"), { minLength: 1, maxLength: 4 }),
});
