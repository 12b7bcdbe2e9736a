import { LocalError } from "../../rpc/errors.ts";
import { isObject } from "../../rpc/messages.ts";
import { redact, redactKnown } from "../../rpc/redact.ts";

interface Circumstances {
  issuer: string;
  /** What was asked of it: "to register a client". */
  what: string;
  /** What was sent and must not be shown, whoever repeats it. */
  secrets: Iterable<string>;
}

/**
 * The error for what oauth4webapi throws. It is not kept as the cause: it holds responses and parameters, with tokens and
 * codes in them.
 */
export async function toAuthorizationError(error: unknown, { issuer, what, secrets }: Circumstances): Promise<Error> {
  if (error instanceof LocalError) return error;
  const answer = await answerIn(error);
  const server = `The authorization server ${JSON.stringify(issuer)}`;
  const show = (text: string): string =>
    redact(redactKnown(text.replace(/[^\x20-\x7e]+/g, " ").slice(0, 300), secrets));
  if (!answer) {
    const status = error instanceof Error && error.cause instanceof Response ? error.cause.status : undefined;
    const said = error instanceof Error ? error.message : String(error);
    const answered = status === undefined ? "" : ` answered with ${status}:`;
    const message = `${server} was asked ${what}, and${answered} ${show(said)}.`;
    return new LocalError("authorization_failed", message, { data: status === undefined ? undefined : { status } });
  }
  const code = show(answer.error);
  const described = answer.description === undefined ? "" : ` (${show(answer.description)})`;
  const message = `${server} refused ${what}: ${code}${described}.${cures.get(answer.error) ?? ""}`;
  return new LocalError("authorization_failed", message, { data: { issuer, error: code, status: answer.status } });
}

/** The OAuth code with which an authorization server refused something, where the error is such a refusal. */
export function refusalCode(error: unknown): string | undefined {
  const isRefusal = error instanceof LocalError && /^(authorization|sign_in)_failed$/.test(error.code);
  const data = isRefusal ? error.data : undefined;
  return isObject(data) && typeof data.error === "string" ? data.error : undefined;
}

const cures: ReadonlyMap<string, string> = new Map([
  ["invalid_target", " Give the resource that it knows as the option resource, or false to name none."],
  ["invalid_redirect_uri", " Register a client with it by hand, and give that as the option client."],
  ["invalid_client_metadata", " Register a client with it by hand, and give that as the option client."],
]);

interface Answer {
  error: string;
  description: string | undefined;
  status: number;
}

async function answerIn(error: unknown): Promise<Answer | undefined> {
  const { ResponseBodyError, WWWAuthenticateChallengeError } = await import("oauth4webapi");
  if (error instanceof ResponseBodyError) {
    return { error: error.error, description: error.error_description, status: error.status };
  }
  if (!(error instanceof WWWAuthenticateChallengeError)) return undefined;
  // A server that wants the client to authenticate otherwise answers with a challenge and a body (RFC 6749, 5.2).
  const body: unknown = await error.response.json().catch(() => undefined);
  const said = isObject(body) ? body : (error.cause[0]?.parameters ?? {});
  const { error: code = "invalid_client", error_description: description } = said;
  return {
    error: String(code),
    description: typeof description === "string" ? description : undefined,
    status: error.status,
  };
}
