import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { askable, completeType, inputRequiredType } from "../../mcp/input-required.ts";
import { isExtensionList } from "../client-capabilities.ts";
import type { Connection } from "../connect/session.ts";
import type { Call, ClientCore } from "./call.ts";

/** So often one call may be asked for more, so that a server that never has enough does not ask forever. */
export const maxRounds = 32;

/** Whether a result asks for more input. Throws where it is of a type that is unknown, or not allowed here. */
export function wantsInput(core: ClientCore, { revision }: Connection, call: Call, result: JsonObject): boolean {
  const { resultType = completeType } = result;
  if (!revision.typedResults || resultType === completeType) return false;
  const isCore = revision.clientRequests.has(call.method);
  if (resultType === inputRequiredType && (askable.has(call.method) || !isCore)) return true;
  // Extensions bring result types of their own; whoever declared one knows what to do with them.
  const { extensions } = core.options;
  if (resultType !== inputRequiredType && extensions && !isExtensionList(extensions)) return false;
  const shown = JSON.stringify(resultType)?.slice(0, 100);
  throw new LocalError("invalid_message", `${call.what} was answered with a result of the type ${shown}.`);
}
