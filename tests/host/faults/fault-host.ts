import { createServer, tool } from "mcparley/server";
import { createHost } from "../../../packages/host/src/host/create-host.ts";
import type { HostEvent, Host, HostOptions } from "../../../packages/host/src/host/host.ts";
import type { ServerTarget } from "../../../packages/host/src/values/types.ts";

/** The newest modern and legacy revisions. */
export const revisions = ["2026-07-28", "2025-11-25"] as const;

/** A good server, whose tool must stay usable. */
const good = createServer({ name: "good", version: "1.0.0", tools: { ping: tool({ call: () => "pong" }) } });

/** A host with a hostile server, `bad`, and a good one. */
export interface FaultHost extends AsyncDisposable {
  readonly host: Host;
  readonly events: readonly HostEvent[];
  /** Returns the messages of the errors of the host. */
  errors(this: void): string[];
  /** Calls the tool of the good server. */
  ping(this: void): Promise<unknown>;
}

/** Returns a host that allows all calls, and accepts the first list of each server. It has connected to its servers. */
export async function faultHost(
  bad: ServerTarget,
  { revision, ...options }: HostOptions & { revision?: string } = {},
): Promise<FaultHost> {
  const events: HostEvent[] = [];
  const host = await createHost({
    servers: { bad: { target: bad, ...(revision !== undefined && { revision }) }, good },
    folder: false,
    policy: { trust: "configured", review: "changes", rules: [{ decision: "allow" }] },
    onEvent: (event) => events.push(event),
    ...options,
  });
  await host.ready();
  return {
    host,
    events,
    errors: () => events.flatMap((event) => (event.type === "error" ? [event.error.message] : [])),
    ping: async () => textOf(await host.callTool("good__ping", {})),
    [Symbol.asyncDispose]: host.close,
  };
}

function textOf(outcome: Awaited<ReturnType<Host["callTool"]>>): unknown {
  const block = outcome.status === "result" ? outcome.result.content[0] : undefined;
  return block?.type === "text" ? block.text : outcome;
}
