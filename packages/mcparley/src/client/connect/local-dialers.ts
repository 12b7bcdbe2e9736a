import { memoryPair } from "../../rpc/memory-transport.ts";
import type { Transport } from "../../rpc/transport.ts";
import type { Dialer } from "./transports.ts";

/** Anything that serves a transport: a server of this library, or of one's own. */
export interface Attachable {
  attach(transport: Transport): Promise<unknown>;
  readonly name?: unknown;
}

/** Dials a server in this process, in memory: each connection is attached to it anew. */
export function serverDialer(server: Attachable): Dialer {
  const name = typeof server.name === "string" ? server.name : "server";
  return {
    kind: "stream",
    target: `memory:${name}`,
    transient: true,
    open() {
      const [ours, theirs] = memoryPair();
      return {
        ...ours,
        async start(receiver) {
          await ours.start(receiver);
          await server.attach(theirs);
        },
      };
    },
  };
}

/** Uses a transport that was made by the caller, and that can thus be opened only once. */
export function transportDialer(transport: Transport): Dialer {
  return { kind: "stream", target: "transport", transient: true, once: true, open: () => transport };
}
