import type { Awaitable } from "../../rpc/awaitable.ts";
import { Declined, LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { MetaKey } from "../../mcp/meta.ts";
import { Method } from "../../mcp/methods.ts";
import type { Progress } from "../../mcp/progress.ts";
import { link, unlessAborted } from "../../rpc/abort.ts";
import { isExtensionList } from "../client-capabilities.ts";
import { requireCapability } from "./capability-check.ts";
import type { SendOptions } from "../connect/connection.ts";
import { type Connection, modernMeta } from "../connect/session.ts";
import type { Call, ClientCore } from "./call.ts";
import type { CallRecord, ConnectOptions, RequestOptions } from "../options.ts";
import { nameOf, outcomeOf } from "./outcome.ts";
import { explain, findTool, repairOf } from "./repair.ts";
import { maxRounds, wantsInput } from "./result-type.ts";

const defaultIdle = 60_000;
const defaultTotal = 30 * 60_000;
/** Timers cannot be set for longer; a limit beyond it is none. */
const longestTimer = 2 ** 31 - 1;
const noAnswers: JsonObject = Object.freeze({});

/**
 * Carries out one request of the user to its final result: from the cache, or through the line, with every question of
 * the server answered on the way and what can be repaired repaired once.
 */
export async function perform(
  core: ClientCore,
  method: string,
  params: JsonObject,
  options: RequestOptions = {},
): Promise<JsonObject> {
  const left = options.timeout?.total ?? core.options.timeout?.total ?? defaultTotal;
  const call: Call = { method, params, options, what: describe(method, params), left, answers: noAnswers };
  const at = core.clock.now();
  let outcome: CallRecord["outcome"] = "ok";
  core.running.add(call);
  try {
    const result = await run(core, call);
    if (method === Method.callTool && result.isError === true) outcome = "tool_error";
    return result;
  } catch (error) {
    outcome = outcomeOf(error);
    throw error;
  } finally {
    core.running.delete(call);
    record(core, call, { at, outcome });
  }
}

/** Gives what the cache holds, or carries the call out under the eyes of those who watch over it. */
async function run(core: ClientCore, call: Call): Promise<JsonObject> {
  const { cache } = core;
  const key = cache?.keyOf(call.method, call.params);
  const kept = key === undefined || call.options.fresh ? undefined : cache?.get(key);
  if (kept) return kept;
  const connection = await connected(core, call);
  requireCapability(connection, call.method);
  const { observers } = core.options;
  if (!observers) return carryOut(core, call, { connection, key });
  const { observed } = await import("./observed.ts");
  return observed({ core, call, connection, observers }, (sent) => carryOut(core, sent, { connection, key }));
}

async function carryOut(
  core: ClientCore,
  given: Call,
  { connection, key }: { connection: Connection; key: string | undefined },
): Promise<JsonObject> {
  const { cache } = core;
  let call = given;
  const { confirm: ask, extensions } = core.options;
  const extended = isExtensionList(extensions) ? await import("./extensions.ts") : undefined;
  if (extended) call = await extended.prepare(core, call, connection);
  if (ask && call.method === Method.callTool) await confirm(core, call, ask);
  for (let round = 0; round < maxRounds; round++) {
    const generation = cache?.generation;
    const { result, answerer } = await send(core, call);
    const followed =
      extended && (await extended.follow(core, call, { result, revision: answerer.revision, send: sendWithin }));
    if (followed) return followed;
    if (!wantsInput(core, answerer, call, result)) {
      // What came of answers depends on them, and they are no part of the key.
      if (key !== undefined && round === 0) cache?.put(key, result, generation!);
      return result;
    }
    const { answersTo } = await import("./input-rounds.ts");
    call.answers = await answersTo(core, call, result, round);
  }
  throw new LocalError("invalid_message", `The server asked for input to ${call.what} more than ${maxRounds} times.`);
}

async function confirm(core: ClientCore, call: Call, ask: NonNullable<ConnectOptions["confirm"]>): Promise<void> {
  const { name, arguments: args } = call.params as { name: string; arguments?: JsonObject };
  const linked = link(call.options.signal, core.closing);
  try {
    const asked = ask(
      { tool: core.tools.get(name), name, arguments: args ?? {} },
      core.asker(call.what, linked.signal),
    );
    const confirmed: unknown = await unlessAborted(Promise.resolve(asked), linked.signal, call.what);
    if (confirmed !== true) throw new Declined(`${call.what} was not confirmed.`);
  } finally {
    linked.unlink();
  }
}

/** Sends a request that belongs to a call of the user, and is not one by itself. */
export async function sendWithin(
  core: ClientCore,
  method: string,
  params: JsonObject,
  options: RequestOptions,
): Promise<JsonObject> {
  const left = options.timeout?.total ?? defaultTotal;
  return (await send(core, { method, params, options, what: describe(method, params), left, answers: noAnswers }))
    .result;
}

/** Sends one round; what went wrong in a way that can be repaired is, each way once. */
async function send(core: ClientCore, call: Call): Promise<{ result: JsonObject; answerer: Connection }> {
  const repaired = new Set<string>();
  for (;;) {
    const connection = await connected(core, call);
    try {
      return { result: await sendOnce(core, call, connection), answerer: connection };
    } catch (error) {
      const repair = repairOf(core, call, connection, error);
      if (!repair || repaired.has(repair.kind)) throw explain(core, call, error);
      repaired.add(repair.kind);
      await repair.run();
    }
  }
}

async function sendOnce(core: ClientCore, call: Call, connection: Connection): Promise<JsonObject> {
  const { clock } = core;
  const envelope = connection.mirrors ? await mirror(core, call) : undefined;
  const since = clock.now();
  try {
    return await connection.channel.request(call.method, paramsOf(core, call, connection), {
      idleTimeout: unlessTooLong(call.options.timeout?.idle ?? core.options.timeout?.idle ?? defaultIdle),
      totalTimeout: unlessTooLong(call.left),
      what: call.what,
      signal: call.options.signal,
      onProgress: progressOf(core, call),
      onPaused: (ms) => void (call.left += ms),
      wantsProgress: true,
      envelope,
    });
  } finally {
    call.left = Math.max(0, call.left - (clock.now() - since));
  }
}

function connected(core: ClientCore, call: Call): Awaitable<Connection> {
  const { signal } = call.options;
  return (!signal && core.line.current) || unlessAborted(core.line.get(), signal, call.what);
}

function paramsOf(core: ClientCore, call: Call, { revision }: Connection): JsonObject {
  const { options, params, answers } = call;
  const isModern = revision.era === "modern";
  let meta = isModern ? modernMeta(revision, core.offer) : {};
  if (params._meta || options.meta) meta = { ...(params._meta as JsonObject | undefined), ...options.meta, ...meta };
  const level = isModern ? (options.logLevel ?? core.logLevel) : undefined;
  if (level !== undefined) meta[MetaKey.logLevel] = level;
  return answers === noAnswers ? { ...params, _meta: meta } : { ...params, ...answers, _meta: meta };
}

/** The headers of a tool call. Its tool is looked up where it is not known: the server refuses a call that lacks them. */
async function mirror(core: ClientCore, { method, params, options }: Call): Promise<SendOptions["envelope"]> {
  const { extensions } = core.options;
  if (method !== Method.callTool) {
    return isExtensionList(extensions)
      ? (await import("./extensions.ts")).mirrored(extensions, method, params)
      : undefined;
  }
  await findTool(core, params.name, options);
  const headers = await core.tools.headers(params.name, params.arguments);
  return headers && { headers };
}

function unlessTooLong(ms: number): number | undefined {
  return ms <= longestTimer ? ms : undefined;
}

function progressOf(core: ClientCore, { options: { onProgress } }: Call): SendOptions["onProgress"] {
  if (!onProgress) return undefined;
  return (params) => {
    const { progress, total, message } = params as unknown as Progress;
    if (typeof progress !== "number") return;
    try {
      onProgress({ progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) });
    } catch (error) {
      core.report(error);
    }
  };
}

function record(core: ClientCore, { method, params }: Call, { at, outcome }: Pick<CallRecord, "at" | "outcome">): void {
  const { onCall } = core.options;
  if (!onCall) return;
  const name = nameOf(params);
  try {
    onCall({ at, durationMs: core.clock.now() - at, method, name, outcome });
  } catch (error) {
    core.report(error);
  }
}

function describe(method: string, params: JsonObject): string {
  const name = nameOf(params);
  return name === undefined ? method : `${method} ${JSON.stringify(name.slice(0, 200))}`;
}
