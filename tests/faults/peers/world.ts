import type { TransportFactory } from "../../../packages/mcparley/src/client/connect/transports.ts";
import type { Fault, RevisionName } from "../dimensions.ts";
import type { SteppedClock } from "../stepped-clock.ts";
import { ScriptedServer } from "./scripted-server.ts";

/** The faults that strike a request. The others change the server. */
export type RequestFault = Exclude<Fault, "process-exit" | "upgraded" | "rolled-back" | "redefined">;

interface Armed {
  fault: RequestFault;
  strikes: (request: string) => boolean;
  /** Whether it strikes every such request until it is lifted. */
  lasts: boolean;
}

/** More requests than any cell needs. A client that sends them has a loop without a pause, and gets no further answer. */
const mostRequests = 1_000;

/** Counts the requests, and decides which of them a fault strikes. */
export class Faults {
  /** The requests that the client has tried to send, by their methods. */
  readonly attempts: string[] = [];
  #armed: Armed | undefined;

  /** Whether the client has sent more requests than any cell needs. */
  get isFlooded(): boolean {
    return this.attempts.length > mostRequests;
  }

  arm(armed: Armed): void {
    this.#armed = armed;
  }

  lift(): void {
    this.#armed = undefined;
  }

  /** Notes a request. Returns the fault that strikes it, if any. */
  note(request: string): RequestFault | undefined {
    this.attempts.push(request);
    if (this.isFlooded) return "hang";
    const armed = this.#armed;
    if (!armed?.strikes(request)) return undefined;
    if (!armed.lasts) this.#armed = undefined;
    return armed.fault;
  }
}

/** A server behind one transport, with the network or the process between it and the client. */
export interface World {
  readonly faults: Faults;
  readonly transports: TransportFactory;
  /** The server that runs, or that the next process runs. */
  readonly server: ScriptedServer;
  /** Replaces the server, as a restart of its process does. */
  replace(server: ScriptedServer, isHttpSse?: boolean): void;
  /** Breaks all open streams, or ends them in an orderly way. */
  breakStreams(how: "reset" | "end"): void;
  /** Ends the process, on stdio. */
  exit(code: number): void;
  /** The connections, streams and processes that are open. */
  open(): string[];
}

/** Makes the server of a cell: one of 2026-07-28 also answers `initialize`. */
export function serverOf(revision: RevisionName, clock: SteppedClock): ScriptedServer {
  return new ScriptedServer({ revision, clock, isDual: revision === "2026-07-28" });
}
