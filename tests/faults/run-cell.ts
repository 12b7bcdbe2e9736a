import { getEventListeners } from "node:events";
import { LocalError, ProtocolError } from "../../packages/mcparley/src/rpc/errors.ts";
import { isObject } from "../../packages/mcparley/src/rpc/messages.ts";
import { flushPromises } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { type Cell, nameOf } from "./dimensions.ts";
import { Stage, scriptOf, subscriptionEnded } from "./operations.ts";
import { SteppedClock, drive } from "./stepped-clock.ts";

/** The observed outcome of a cell. */
export interface Observed {
  /** `result`, or the error: its code, and the status of `http`. */
  settles: string;
  safeToRepeat: unknown;
  retryAfterMs: unknown;
  /** The requests since the fault, by name. */
  sent: Record<string, number>;
  /** The state of the client after the operation. */
  state: string;
  /** The revision that the client spoke after the operation, and the one of the next client of the same target. */
  revision: string | undefined;
  remembered: string | undefined;
  /** Simulated milliseconds from the abort or the close to the end of the operation, or from the fault. */
  ms: number;
  /** Defects in any cell: an operation that never settles, a next call that fails, or a leak. */
  problems: string[];
}

/** The requests that are counted. Others follow from them, or belong to the end of the client. */
const counted =
  /^(start|server\/discover|initialize|tools\/.*|tasks\/(get|result)|resources\/subscribe|subscriptions\/listen|response|GET \(.*)$/;

/** Runs the operation of a cell under its fault. Never throws. */
export async function runCell(cell: Cell): Promise<Observed> {
  const stage = new Stage(cell, new SteppedClock());
  const observed: Observed = {
    settles: "nothing",
    safeToRepeat: undefined,
    retryAfterMs: undefined,
    sent: {},
    state: "none",
    revision: undefined,
    remembered: undefined,
    ms: 0,
    problems: [],
  };
  for (const step of [operate, tryNext, leave]) {
    try {
      await step(stage, observed);
    } catch (error) {
      observed.problems.push(describeError(error));
    }
  }
  return observed;
}

/** Runs the operation until it settles. */
async function operate(stage: Stage, observed: Observed): Promise<void> {
  const { cell, clock, world } = stage;
  const script = scriptOf(cell);
  try {
    await script.begin(stage);
    await flushPromises();
    const running = script.run(stage);
    running.catch(() => {});
    if (cell.fault === "aborted" || cell.fault === "closed") await interrupt(stage);
    const end = await drive(clock, nameOf(cell), running);
    observed.ms = end.ms;
    observed.settles = "value" in end ? "result" : shown(end.error);
    const data = "error" in end && end.error instanceof LocalError && isObject(end.error.data) ? end.error.data : {};
    observed.safeToRepeat = data.safeToRepeat;
    observed.retryAfterMs = data.retryAfterMs;
    // A stream may break again at once.
    if (stage.subscription && cell.fault !== "closed") await clock.pass(40_000);
  } finally {
    stage.lift();
    observed.state = stage.client?.state ?? "none";
    observed.sent = countsOf(world.faults.attempts.slice(stage.before), cell);
  }
}

/** Waits until the request hangs, and aborts it or closes the client. */
async function interrupt({ cell, caller, clock, client }: Stage): Promise<void> {
  // The request may wait for the user, or for the pause between two tries.
  await clock.pass(2_000);
  if (cell.fault === "aborted") caller.abort(new Error("The caller cancels the operation."));
  else if (client) void client.close();
}

/** Checks that the client works once the fault is over, and that the target is spoken to in its revision. */
async function tryNext(stage: Stage, observed: Observed): Promise<void> {
  const { cell, clock, client, world, subscription } = stage;
  if (cell.fault === "closed") return;
  if (client) {
    const next = await drive(clock, "The next call", client.callTool("echo", { text: "hello" }));
    if ("error" in next) observed.problems.push(`The next call failed: ${describeError(next.error)}`);
    observed.revision = client.server.revision;
    if (subscription && observed.settles === "result") await tryChange(stage, observed);
  }
  if (cell.operation !== "connect") return;
  if (client) await drive(clock, "close()", client.close());
  world.faults.lift();
  const again = await drive(clock, "The next connect", stage.connect());
  if ("error" in again) return void observed.problems.push(`The next connect failed: ${describeError(again.error)}`);
  observed.remembered = again.value.server.revision;
  stage.client = again.value;
}

/** Checks that a subscription is notified of a change after the fault. */
async function tryChange(stage: Stage, observed: Observed): Promise<void> {
  const kinds = new Set<string>();
  stage.onChange = ({ kind }) => void kinds.add(kind);
  stage.world.server.change();
  // A slow stream stays slow.
  if (stage.cell.fault === "slow-body") await stage.clock.pass(70_000);
  else await flushPromises();
  if (!kinds.has("tools") || !kinds.has("updated")) observed.problems.push("The next change did not arrive.");
}

/** Closes the client and checks that nothing is left. */
async function leave({ client, clock, world, caller, subscription }: Stage, { problems }: Observed): Promise<void> {
  if (client) {
    const end = await drive(clock, "close()", client.close());
    if ("error" in end) problems.push(`close() failed: ${describeError(end.error)}`);
    if (client.inFlight > 0) problems.push(`${client.inFlight} calls are in flight after close().`);
  }
  if (subscription) await drive(clock, "Subscription.closed", subscription.closed);
  await flushPromises();
  if (world.faults.isFlooded) problems.push("The client sends requests in a loop without a pause.");
  if (clock.pending > 0) problems.push(`${clock.pending} timers are left.`);
  for (const open of world.open()) problems.push(`Left open: ${open}.`);
  const listeners = getEventListeners(caller.signal, "abort").length;
  if (listeners > 0) problems.push(`${listeners} listeners are left on the signal of the caller.`);
}

function countsOf(attempts: readonly string[], { operation }: Cell): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of attempts) {
    const isCounted = counted.test(name) || (name === "GET" && operation === "standalone-stream");
    if (isCounted) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** The error as the table shows it. */
function shown(error: unknown): string {
  if (error instanceof ProtocolError) return `error ${error.code}`;
  if (!(error instanceof LocalError)) return error === subscriptionEnded ? "ended" : describeError(error);
  const { code, data } = error;
  return code === "http" && isObject(data) ? `http ${String(data.status)}` : code;
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : ` (${describeError(error.cause)})`;
  return `${error.message}${cause}`;
}

/** The number of cells that run at the same time. */
const together = 40;

/** Runs cells, several at a time. Each has its own clock and peer. */
export async function runCells(cells: readonly Cell[]): Promise<Map<Cell, Observed>> {
  const observed = new Map<Cell, Observed>();
  const waiting = [...cells];
  const work = async (): Promise<void> => {
    for (let cell = waiting.shift(); cell; cell = waiting.shift()) observed.set(cell, await runCell(cell));
  };
  await Promise.all(Array.from({ length: together }, work));
  return observed;
}
