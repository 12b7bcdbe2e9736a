import { type Client, connect, type InProcessServer, openClient, type TransportFactory } from "mcparley/client";
import { fakeClock } from "mcparley/testing";
import type { DecisionRecord } from "../consent/policy.ts";
import { inputHandlers, type InputSettings } from "../input/input-handlers.ts";
import { type InputLimits, defaultLimits } from "../input/input-context.ts";

/** A connection whose input requests are answered by the handlers of a host, for tests. */
export interface InputHost {
  readonly client: Client;
  readonly decisions: readonly Omit<DecisionRecord, "at" | "server">[];
  /** Each as `kind state during`. */
  readonly activities: readonly string[];
  /** Aborts the calls that were made with it when the handlers cancel the calls of the server. */
  readonly cancelSignal: AbortSignal;
}

/** Connects to a server with the handlers of a host. A question of the user is asked at once. */
export async function inputHost(
  server: InProcessServer | TransportFactory,
  {
    revision,
    limits,
    ...settings
  }: { revision: string; limits?: Partial<InputLimits> } & Partial<Omit<InputSettings, "limits">>,
): Promise<InputHost> {
  const decisions: Omit<DecisionRecord, "at" | "server">[] = [];
  const activities: string[] = [];
  const controller = new AbortController();
  const handlers = inputHandlers({
    server: "shop",
    renderer: undefined,
    model: undefined,
    roots: undefined,
    clock: fakeClock(),
    ask: async (ask) => ask(),
    onDecision: ({ at: _at, server: _server, ...decision }) => void decisions.push(decision),
    onUsage: () => {},
    onActivity: (kind, state, callLabel) => void activities.push(`${kind} ${state} ${callLabel}`),
    cancelCalls: (_during, reason) => controller.abort(reason),
    ...settings,
    limits: { ...defaultLimits, ...limits },
  });
  const options = { revision, ...handlers };
  const client = await ("open" in server ? openClient(server, options) : connect(server, options));
  return { client, decisions, activities, cancelSignal: controller.signal };
}
