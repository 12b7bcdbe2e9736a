import { LocalError } from "mcparley";

/** Transient replies: the server is starting, failing over or busy, and a retry may succeed. */
const passing = /^(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|NOREPLICAS|BUSY) /;
/** Error replies of Redis start with an error code in capitals. Connection errors do not. */
const reply = /^[A-Z]{2,} /;

const cures: Record<string, string> = {
  OOM: "Raise its maxmemory, or give what is stored shorter lives.",
  NOAUTH: "Give the client a user and password.",
  WRONGPASS: "Give the client another user or password.",
  NOPERM:
    "Allow its user GET, SET, DEL, EVAL, EVALSHA, XADD, XRANGE, XREVRANGE, PEXPIRE, PUBLISH, SUBSCRIBE and UNSUBSCRIBE " +
    "on the prefix, and PING.",
  MISCONF: "It cannot write to its disk.",
  WRONGTYPE: "Something else uses the same keys: give redisStore another prefix.",
};

/** Returns whether an error means that the server has not cached the script (`NOSCRIPT`). */
export function isUnknownScript(error: unknown): boolean {
  return textOf(error).startsWith("NOSCRIPT ");
}

/** Returns whether an error means that the server does not support the command. */
export function isUnknownCommand(error: unknown): boolean {
  return /^ERR unknown command/i.test(textOf(error));
}

/** Returns whether an error means that the user or the password is wrong or missing. */
function isAuthenticationFailure(error: unknown): boolean {
  return /^(?:NOAUTH|WRONGPASS) /.test(textOf(error));
}

/** Returns whether an error is a reply of the server that a retry would not change. */
export function isRefusal(error: unknown): boolean {
  const text = textOf(error);
  return reply.test(text) && !passing.test(text);
}

/** Returns the error for an aborted operation. It omits keys and values, which clients attach to their errors. */
export function unavailable(operation: string, cause: unknown, limit: number): LocalError {
  const said = textOf(cause).replaceAll(/(["'`]).*?\1/g, "$1…$1");
  if (!isRefusal(cause)) {
    const why = said === "" ? "no answer came" : said;
    return new LocalError("store_unavailable", `Redis was out of reach for ${limit} ms (${operation}): ${why}.`);
  }
  const cure = cures[said.split(" ")[0] ?? ""];
  const refused = isAuthenticationFailure(cause)
    ? `Redis authentication failed (${operation})`
    : `Redis refused ${operation}`;
  const message = `${refused}: ${said}${said.endsWith(".") ? "" : "."}${cure === undefined ? "" : ` ${cure}`}`;
  return new LocalError("store_unavailable", message);
}

function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return textOf(error.errors[0]);
  return error instanceof Error ? error.message : "";
}
