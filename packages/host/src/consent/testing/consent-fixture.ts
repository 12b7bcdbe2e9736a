import type { JsonObject } from "mcparley";
import type { Tool } from "mcparley/client";
import { type FakeClock, fakeClock } from "mcparley/testing";
import type { CatalogueTool, ServerLists } from "../../catalogue/catalogue.ts";
import type { ServerTarget } from "../../values/types.ts";
import type { Renderer } from "../../renderer/renderer.ts";
import { type StateStorage, memoryState } from "../../state/state-storage.ts";
import type { CallToCheck } from "../call-consent.ts";
import { Consent } from "../consent.ts";
import type { DecisionRecord, Policy } from "../policy.ts";
import type { ReviewOutcome } from "../definition-review.ts";

/** A signal that is never aborted. */
export const never: AbortSignal = new AbortController().signal;
export const target: ServerTarget = "https://example.com/mcp";

/** A consent with its decisions and errors. */
export interface ConsentFixture {
  readonly consent: Consent;
  readonly storage: StateStorage;
  readonly clock: FakeClock;
  readonly decisions: DecisionRecord[];
  readonly errors: string[];
  review(tools: readonly Tool[], changes?: Partial<ServerLists> & { instructions?: string }): Promise<ReviewOutcome>;
}

export interface ConsentFixtureOptions {
  readonly policy?: Policy;
  readonly renderer?: Renderer;
  readonly storage?: StateStorage;
}

export function consentFixture({
  policy = {},
  renderer = {},
  storage = memoryState(),
}: ConsentFixtureOptions = {}): ConsentFixture {
  const decisions: DecisionRecord[] = [];
  const errors: string[] = [];
  const clock = fakeClock(1_000);
  const consent = new Consent({
    policy,
    renderer,
    storage,
    onDecision: (decision) => decisions.push(decision),
    onError: (_server, error) => errors.push(error.message),
    clock,
  });
  const review: ConsentFixture["review"] = (tools, { instructions, ...lists } = {}) =>
    consent.definitions.review({ server: "files", target, lists: listsOf(tools, lists), instructions }, never);
  return { consent, storage, clock, decisions, errors, review };
}

export function listsOf(tools: readonly Tool[], lists: Partial<ServerLists> = {}): ServerLists {
  return { tools, prompts: [], resources: [], templates: [], listedAt: 0, isCached: false, ...lists };
}

export function toolNamed(name: string, changes: Partial<Tool> = {}): Tool {
  return { name, description: `Runs ${name}.`, inputSchema: { type: "object" }, ...changes };
}

/** Returns a call of the server `files` by the model. */
export function callOf(tool: Tool, args: JsonObject = {}, changes: Partial<CallToCheck> = {}): CallToCheck {
  const { inputSchema } = tool;
  const entry: CatalogueTool = { name: `files_${tool.name}`, server: "files", tool, description: "", inputSchema };
  return { tool: entry, arguments: args, origin: { callId: "1", by: "model" }, ...changes };
}
