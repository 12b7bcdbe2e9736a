import type { Clock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { isObject } from "../../rpc/messages.ts";
import type { HttpReply } from "./reply.ts";
import { loadExplanations, statusError } from "./response.ts";

const subject = String.raw`(?:mcp[ -])?session(?:[ _-]?id(?:entifier)?)?`;
const adjective = "(?:no|invalid|unknown|missing|expired|unrecognized)";
const state = [
  "(?:could )?not (?:be )?found",
  "(?:is |was )?(?:not|no longer) (?:found|valid|known|active|recognized|initialized)",
  "(?:does not|no longer) exists?",
  "(?:is |was |has |has been |already )*(?:expired|terminated|closed|deleted|ended|invalid|unknown|missing|required)",
].join("|");
/**
 * The texts with which released servers refuse a session that they do not know, such as "Bad Request: No valid session ID
 * provided". A text about a session of another kind, such as "The browser session expired", does not match.
 */
const lossTexts: RegExp = new RegExp(
  String.raw`(?:^|["'>:.]\s*|\b(?:the|your) )(?:${[
    String.raw`${adjective}(?: or ${adjective})?(?: valid| active| such)* ${subject}(?: provided| found| header)*(?:\s*(?:$|["'.,:;(<])| or\b)`,
    String.raw`${subject}(?: header)?:?(?: (?:["'][^"']{1,200}["']|(?=\S*\d)[\w.-]{1,200}))? (?:${state})\b`,
    String.raw`(?:could not|cannot) find (?:the |a )?${subject}`,
    `no transport found for ${subject}`,
    "server (?:is )?not initialized",
  ].join("|")})`,
  "i",
);

/** A refusal of a message: `text` is its body, or the text of an error in it. */
export interface SessionRefusal {
  status: number;
  text: unknown;
  /** Whether the server has read the request. Then its text does not show whether it means the session of MCP. */
  isAddressed?: boolean;
}

/**
 * Returns the error for a session that the server does not know, if a refusal in it shows that: by its status, 404 or 410, or by its
 * text (2025-11-25, transports, "Session Management"). The error has the text as its reason.
 */
export async function lossIn(
  what: string,
  { status, text, isAddressed = false }: SessionRefusal,
): Promise<LocalError | undefined> {
  const reason = typeof text === "string" ? text : "";
  const isGone = status === 404 || status === 410 || (!isAddressed && lossTexts.test(reason.slice(0, 1_000)));
  if (!isGone) return undefined;
  const explanation = reason === "" ? "" : (await loadExplanations())?.explanationIn(reason);
  return sessionLost(what, status, explanation);
}

/** Makes the error of a message in a session that the server has refused: `session_lost`, or the error of the status. */
export async function refusalInSession(response: HttpReply, what: string, clock: Clock): Promise<LocalError> {
  const error = await statusError(response, what, clock);
  const { body, challenge } = isObject(error.data) ? error.data : {};
  // A challenge is about the sign-in.
  return (challenge === undefined && (await lossIn(what, { status: response.status, text: body }))) || error;
}

/** Makes the error for a session that the server does not know. `reason` is the explanation of the server. */
export function sessionLost(what: string, status: number, reason = ""): LocalError {
  const message = `The session has ended or is unknown to the server (${status} for ${what}). Open a new one.`;
  const data = reason === "" ? { status } : { status, reason };
  return new LocalError("session_lost", reason === "" ? message : `${message} Its reason: ${reason}`, { data });
}
