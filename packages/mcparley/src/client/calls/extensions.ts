import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import { encodeHeaderValue } from "../../mcp/header-values.ts";
import { link } from "../../rpc/abort.ts";
import { isExtensionList } from "../client-capabilities.ts";
import type { Connection } from "../connect/session.ts";
import type { Call, ClientCore } from "./call.ts";
import type { ClientExtension, FollowedRequest } from "../extension.ts";
import { answersTo } from "./input-rounds.ts";
import type { RequestOptions } from "../options.ts";
import { findTool } from "./repair.ts";
import { wakefulClock } from "../connect/wakeful-clock.ts";

/** Sends a request that belongs to a call of the user. */
type SendWithin = (
  core: ClientCore,
  method: string,
  params: JsonObject,
  options: RequestOptions,
) => Promise<JsonObject>;

/** The call with what the extensions add to its params. */
export async function prepare(core: ClientCore, call: Call, { revision, server }: Connection): Promise<Call> {
  let { params } = call;
  const { capabilities } = server;
  const tool = async (): Promise<ReturnType<typeof core.tools.get>> => {
    await findTool(core, params.name, call.options);
    return core.tools.get(params.name as string);
  };
  for (const extension of extensionsOf(core)) {
    const added = await extension.prepare?.({ method: call.method, params, revision, capabilities, tool });
    if (added) params = { ...params, ...added };
  }
  return params === call.params ? call : { ...call, params };
}

/** The `Mcp-Name` header of an extension's request, where the extension asks for it. */
export function mirrored(
  extensions: readonly ClientExtension[],
  method: string,
  params: JsonObject,
): { headers: Record<string, string> } | undefined {
  const named = extensions.map(({ mirroredNames }) => mirroredNames?.[method]).find((name) => name !== undefined);
  const value = named === undefined ? undefined : params[named];
  return typeof value === "string" ? { headers: { "mcp-name": encodeHeaderValue(value) } } : undefined;
}

/** Goes on from a result that an extension knows as its own. Undefined where none does. */
export async function follow(
  core: ClientCore,
  call: Call,
  { result, revision, send }: { result: JsonObject; revision: Revision; send: SendWithin },
): Promise<JsonObject | undefined> {
  const linked = link(call.options.signal, core.closing);
  try {
    const request = followed(core, call, { revision, send, signal: linked.signal });
    for (const extension of extensionsOf(core)) {
      const goOn = extension.follow?.(result, request);
      if (goOn) return call.options.follow === false ? result : await goOn();
    }
    return undefined;
  } finally {
    linked.unlink();
  }
}

/** Goes on from a result that was kept. */
export async function followKept(
  core: ClientCore,
  method: string,
  { result, options, send }: { result: JsonObject; options: RequestOptions; send: SendWithin },
): Promise<JsonObject> {
  const { revision } = await core.line.get();
  const left = options.timeout?.total ?? core.options.timeout?.total ?? 0;
  const call: Call = { method, params: {}, options, what: method, left, answers: {} };
  core.running.add(call);
  try {
    const final = await follow(core, call, { result, revision, send });
    if (final) return final;
  } finally {
    core.running.delete(call);
  }
  throw new LocalError("not_capable", `No extension of this client knows how to go on from this result of ${method}.`);
}

function followed(
  core: ClientCore,
  call: Call,
  { revision, send, signal }: { revision: Revision; send: SendWithin; signal: AbortSignal },
): FollowedRequest {
  const { method, what, options } = call;
  const { idle, total } = { ...core.options.timeout, ...options.timeout };
  return {
    method,
    what,
    revision,
    signal,
    // What goes on after it was answered is not a slow answer: only a limit that somebody has set holds for it.
    left: total === undefined ? Infinity : call.left,
    clock: wakefulClock(core.options.clock),
    send: (other, params, { signal: until } = {}) =>
      send(core, other, params, {
        ...(until && { signal: until }),
        ...(options.meta && { meta: options.meta }),
        ...(idle !== undefined && { timeout: { idle } }),
      }),
    async answer(inputRequests) {
      const { inputResponses } = await answersTo(core, call, { inputRequests }, 0);
      return inputResponses as JsonObject;
    },
    report: (error) => core.report(error),
  };
}

function extensionsOf({ options: { extensions } }: ClientCore): readonly ClientExtension[] {
  return isExtensionList(extensions) ? extensions : [];
}
