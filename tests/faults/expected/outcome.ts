import { type Cell, type Fault, type Operation, type RevisionName, modern } from "../dimensions.ts";
import { isOneWay, isSubscribeRequest } from "./exclusions.ts";

/** A number of requests: exact, or the fewest and the most. */
export type Count = number | readonly [fewest: number, most: number];

/** The required outcome of a cell. */
export interface Outcome {
  /** `result`, or the error: its code, and the status of `http`. A subscription that is open again is a result. */
  settles: string;
  /** `data.safeToRepeat` of the error. Undefined if the error needs none. */
  safeToRepeat?: boolean | undefined;
  /** `data.retryAfterMs` of the error. */
  retryAfterMs?: number;
  /** The requests since the fault, by name. Any other counted request is a defect. */
  sent: Readonly<Record<string, Count>>;
  /** `client.state` after the operation. */
  state: "open" | "reconnecting" | "closed" | "none";
  /** The revision that the client speaks after the operation. */
  revision: RevisionName;
  /** The operation settles without any pause. */
  isAtOnce?: boolean;
}

/** A part of the outcome of the cells that it applies to. A rule without a condition applies to all. */
export interface Rule {
  operation?: readonly Operation[];
  fault?: readonly Fault[];
  when?: (cell: Cell) => boolean;
  /** The requests in `sent` are added to those of the rules before. */
  must: Partial<Outcome> | ((cell: Cell) => Partial<Outcome>);
}

export const refusals: readonly Fault[] = ["refused", "refused-for-long"];
export const resets: readonly Fault[] = ["reset-before", "reset-after", "reset-in-answer"];
/** Statuses that leave open whether the server ran the request. Proxies send 502 and 503, with any body. */
export const statuses: readonly Fault[] = ["408", "429", "500", "502", "502-rpc", "503", "503-rpc"];
export const lasting: readonly Fault[] = ["refused-for-long", "503-for-long"];
export const replacements: readonly Fault[] = ["upgraded", "rolled-back"];

export const isModern = ({ revision }: Cell): boolean => revision === modern;
export const isOn = ({ transport }: Cell, wanted: Cell["transport"]): boolean => transport === wanted;

/** Whether the operation is a request, or ends with one, and its caller waits for the answer. */
export function isRequest(cell: Cell): boolean {
  return (/list|call/.test(cell.operation) && !isOneWay(cell)) || isSubscribeRequest(cell);
}

/** Whether an open stream breaks and is opened again. */
export function isReopening(cell: Cell): boolean {
  return /subscription|stream/.test(cell.operation) && !isSubscribeRequest(cell);
}

/** The request that the fault strikes. */
export function struck(cell: Cell): string {
  const { operation, transport } = cell;
  if (operation === "connect") return transport === "http-sse" ? "GET (open)" : opening(cell);
  if (operation === "standalone-stream") return "GET";
  if (operation === "subscription") return isModern(cell) ? "subscriptions/listen" : "resources/subscribe";
  if (operation === "task") return "tasks/get";
  if (operation === "list") return "tools/list";
  return isOneWay(cell) ? "response" : "tools/call";
}

/** The first request of the handshake. */
export function opening(cell: Cell): string {
  return isModern(cell) ? "server/discover" : "initialize";
}

/** The requests that open a lost connection again. */
export function reconnect(cell: Cell, count: Count = 1): Record<string, Count> {
  if (isOn(cell, "http-sse")) return { "GET (open)": count, initialize: count };
  if (isOn(cell, "stdio")) return { start: count, [opening(cell)]: count };
  return isModern(cell) ? {} : { initialize: count };
}

/** Whether it does no harm to repeat the request. A tool without annotations may have done its work. */
export function isSafe({ operation }: Cell): boolean {
  return operation === "list" || operation === "read-only-call";
}

/** The error of a status. */
export function statusOutcome(cell: Cell): Partial<Outcome> {
  return { settles: `http ${Number.parseInt(cell.fault, 10)}`, safeToRepeat: isSafe(cell) };
}

/** Returns an outcome in which the struck request is sent `count` times. */
export function sending(count: Count): (cell: Cell) => Partial<Outcome> {
  return (cell) => ({ sent: { [struck(cell)]: count } });
}
