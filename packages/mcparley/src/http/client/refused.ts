import type { Clock } from "../../rpc/clock.ts";
import { ErrorCode, type LocalError } from "../../rpc/errors.ts";
import { type JsonObject, type RequestId, isObject } from "../../rpc/messages.ts";
import { redact } from "../../rpc/redact.ts";
import { readText } from "./body.ts";
import { isJson } from "../media-type.ts";
import { asksForAuthorization } from "./send.ts";
import { errorFor, sessionLost, statusError } from "./status.ts";

/** The most that is read of an error to find its JSON-RPC form. */
const ERROR_BYTES = 1_048_576;
const EXCERPT_CHARS = 1_024;

interface Refused {
  response: Response;
  what: string;
  /** The requests that it refuses. */
  ids: ReadonlySet<RequestId>;
  /** The request named a session. */
  inSession: boolean;
  clock: Clock;
}

/**
 * Reads a response whose status is an error: the JSON-RPC errors to deliver where it holds what answers the requests,
 * or else the error of this side that it means.
 *
 * A JSON-RPC error without an id is about the request that it came in response to, so it is given the id.
 */
export async function readRefusal(refused: Refused): Promise<JsonObject[] | LocalError> {
  const { response, what, ids, inSession, clock } = refused;
  const isGone = response.status === 404 && inSession;
  if (asksForAuthorization(response) || !isJson(response)) {
    return isGone ? sessionLost(what) : statusError(response, what, clock);
  }
  const text = await readText(response, ERROR_BYTES);
  const errors = answersIn(text, ids);
  // In a session 404 means that it is gone (2025-11-25, transports, "Session Management"); servers put all kinds of
  // errors beside it. The one that some use for another purpose says so by its code.
  if (isGone && !errors.some((answer) => codeOf(answer) === ErrorCode.MethodNotFound)) return sessionLost(what);
  if (errors.length > 0) return errors;
  return errorFor(response, { what, said: redact(text.slice(0, EXCERPT_CHARS)), clock });
}

function answersIn(text: string, ids: ReadonlySet<RequestId>): JsonObject[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const candidates = Array.isArray(value) ? value : [value];
  return candidates.flatMap((candidate: unknown) => {
    if (!isObject(candidate) || candidate.jsonrpc !== "2.0" || !isObject(candidate.error)) return [];
    if (ids.has(candidate.id as RequestId)) return [candidate];
    return candidate.id === undefined || candidate.id === null ? [...ids].map((id) => ({ ...candidate, id })) : [];
  });
}

function codeOf({ error }: JsonObject): unknown {
  return isObject(error) ? error.code : undefined;
}
