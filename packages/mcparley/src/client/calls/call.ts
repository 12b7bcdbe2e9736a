import type { Clock } from "../../rpc/clock.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { LoggingLevel } from "../../mcp/logging.ts";
import type { Tool } from "../../mcp/tools.ts";
import type { Cache } from "./cache.ts";
import type { Offer } from "../connect/session.ts";
import type { Dialer } from "../connect/transports.ts";
import type { KnownTools } from "./known-tools.ts";
import type { Line } from "../connect/line.ts";
import type { List } from "./lists.ts";
import type { Asker, ConnectOptions, RequestOptions } from "../options.ts";
import type { Questions } from "../input/input-requests.ts";
import type { Subscriptions } from "../subscriptions/subscriptions.ts";
import type { UrlVisits } from "../input/url-visits.ts";

/** One request of the client's user, through all its rounds and repeats. */
export interface Call {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RequestOptions;
  /** Its method and what it names, for errors and for whoever is asked something. */
  readonly what: string;
  /** The milliseconds that are left of its total limit. */
  left: number;
  /** What its next round carries besides its params: the answers to the round before, and no others. */
  answers: JsonObject;
}

/** The parts of one client, for the functions that carry out its requests. */
export interface ClientCore {
  readonly options: ConnectOptions;
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly offer: Offer;
  readonly line: Line;
  readonly cache: Cache | undefined;
  readonly tools: KnownTools;
  /** What answers the questions of servers; loaded when the first one is asked. */
  readonly questions: (this: void) => Promise<Questions>;
  readonly visits: UrlVisits;
  /** Undefined until changes are listened to for the first time. */
  subscriptions: Subscriptions | undefined;
  /** Aborted when the client is closed. */
  readonly closing: AbortSignal;
  readonly running: Set<Call>;
  /** The level that modern requests ask for where they name none. */
  logLevel: LoggingLevel | undefined;
  listTools(this: void, options: RequestOptions): List<Tool>;
  /** Who asks, for handlers and hooks. */
  asker(this: void, during: string | undefined, signal: AbortSignal): Asker;
  /** Tells the user of what belongs to no call. */
  report(this: void, error: unknown): void;
}
