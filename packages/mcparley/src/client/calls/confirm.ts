import { link, unlessAborted } from "../../rpc/abort.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { Declined } from "../../mcp/errors.ts";
import { type Call, type Next, asking } from "./call.ts";

/** Asks the user before a tool call. Throws `Declined` if the call is not confirmed. */
export async function confirm(call: Call, next: Next): Promise<JsonObject> {
  const { core, params, options, what } = call;
  const name = String(params.name);
  const args = isObject(params.arguments) ? params.arguments : {};
  const linked = link(options.signal, core.closing);
  try {
    const asker = core.asker(what, linked.signal);
    const asked = core.options.confirm?.({ tool: core.tools.get(name)?.tool, name, arguments: args }, asker);
    const confirmed: unknown = await asking(call, unlessAborted(Promise.resolve(asked), linked.signal, what));
    if (confirmed !== true) throw new Declined(`${what} was not confirmed.`);
  } finally {
    linked.unlink();
  }
  return next.step(call, next.next);
}
