import { LocalError } from "../../rpc/errors.ts";
import { findNotJson } from "../../rpc/not-json.ts";
import type { RequestOptions } from "../options.ts";
import type { Call } from "./call.ts";

/** Throws `invalid_message` for a message with a value that JSON cannot carry. The error names the member. */
export function requireJson({
  what,
  params,
  options,
}: Pick<Call, "what" | "params"> & { options?: RequestOptions }): void {
  const wrong = findNotJson(params, "") ?? findNotJson(options?.meta, "meta");
  if (wrong === undefined) return;
  throw new LocalError("invalid_message", `${what} was not sent: ${wrong}, which JSON cannot carry.`);
}
