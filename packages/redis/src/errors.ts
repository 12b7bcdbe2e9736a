import { LocalError } from "mcparley";

/** What a server says that starts, fails over or is busy: the same may work in a moment. */
const passing = /^(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|NOREPLICAS|BUSY) /;
/** Replies begin with a word that says what kind of error they are; errors of connections do not. */
const reply = /^[A-Z]{2,} /;

const cures: Record<string, string> = {
  OOM: "Raise its maxmemory, or give what is stored shorter lives.",
  NOAUTH: "Give the client its password.",
  WRONGPASS: "Give the client another password.",
  NOPERM:
    "Allow its user GET, SET, DEL, EVAL, EVALSHA, XADD, XRANGE, XREVRANGE, PEXPIRE, PUBLISH and SUBSCRIBE on the prefix.",
  MISCONF: "It cannot write to its disk.",
  WRONGTYPE: "Something else uses the same keys: give redisStore another prefix.",
};

/** Whether a script is not known to the server that was to run it. */
export function isUnknownScript(error: unknown): boolean {
  return textOf(error).startsWith("NOSCRIPT ");
}

/** Whether a server does not have a command at all. */
export function isUnknownCommand(error: unknown): boolean {
  return /^ERR unknown command/i.test(textOf(error));
}

/** Whether a server answered, and would answer the same again. */
export function isRefusal(error: unknown): boolean {
  const text = textOf(error);
  return reply.test(text) && !passing.test(text);
}

/** The error for an operation that was given up. It holds no key and no value: clients attach both to their errors. */
export function unavailable(operation: string, cause: unknown, limit: number): LocalError {
  const said = textOf(cause).replaceAll(/(["'`]).*?\1/g, "$1…$1");
  if (!isRefusal(cause)) {
    const why = said === "" ? "no answer came" : said;
    return new LocalError("store_unavailable", `Redis was out of reach for ${limit} ms (${operation}): ${why}.`);
  }
  const cure = cures[said.split(" ")[0] ?? ""];
  const message = `Redis refused ${operation}: ${said}${said.endsWith(".") ? "" : "."}${cure === undefined ? "" : ` ${cure}`}`;
  return new LocalError("store_unavailable", message);
}

function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return textOf(error.errors[0]);
  return error instanceof Error ? error.message : "";
}
