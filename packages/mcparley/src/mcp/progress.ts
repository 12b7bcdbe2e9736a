import { invalidParams } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";

/** Identifies the request that a progress notification belongs to. */
export type ProgressToken = string | number;

/** Progress of a call. */
export interface Progress {
  /** The progress so far. It grows with each notification. */
  progress: number;
  /** The value of `progress` at the end, if known. */
  total?: number;
  /** The current step, for people. */
  message?: string;
  /** Metadata of the sender. Its keys have the form of the specification (2025-11-25, basic, `_meta`). */
  _meta?: JsonObject;
}

/** Returns the progress in the params of a notification. Undefined if it is not a number. Malformed members are omitted. */
export function readProgress({ progress, total, message, _meta }: JsonObject): Progress | undefined {
  if (typeof progress !== "number") return undefined;
  const read: Progress = { progress };
  if (typeof total === "number") read.total = total;
  if (typeof message === "string") read.message = message;
  if (isObject(_meta)) read._meta = _meta;
  return read;
}

/** Throws -32602 if a request has a progress token that is not a short string or a safe integer. */
export function checkProgressToken({ _meta: meta }: JsonObject, maxLength: number): void {
  if (!isObject(meta)) return;
  const { progressToken: token } = meta;
  if (token === undefined || Number.isSafeInteger(token)) return;
  if (typeof token === "string" && token.length <= maxLength) return;
  throw invalidParams(
    `params._meta.progressToken must be a string of at most ${maxLength} characters or a safe integer`,
  );
}
