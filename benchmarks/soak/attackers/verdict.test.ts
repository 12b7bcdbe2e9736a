import { expect, test } from "vitest";
import { verdictOf } from "./verdict.mjs";

const answer = (status: number, value: unknown) => ({ status, body: Buffer.from(JSON.stringify(value)) });
const failure = (message: string, code = -32602) => ({ jsonrpc: "2.0", id: 1, error: { code, message } });
const result = (value: object) => ({ jsonrpc: "2.0", id: 1, result: value });

test.each([
  ["a result", answer(200, result({ content: [] })), "ok"],
  ["an accepted notification", { status: 202, body: Buffer.alloc(0) }, "ok"],
  ["a tool error", answer(200, result({ content: [], isError: true })), "tool error"],
  ["a validation out of steps", answer(200, result({ content: ["is too complex"], isError: true })), "too complex"],
  ["a refusal that names its limit", answer(429, failure("Too many (limits.inFlight). Wait.")), "limits.inFlight"],
  [
    "a full session table",
    answer(
      503,
      failure("The server has reached its session limit (sessions.max, sessions.totalSize). Try again later."),
    ),
    "sessions.max",
  ],
  ["a long id", answer(400, failure('Invalid message: "id" must have at most 1024 characters.')), "limits.idLength"],
  ["deep arguments", answer(200, failure("The value is nested more than 64 levels deep.")), "limits.depth"],
  ["the rate limit", answer(429, failure("Too many calls. Try again in 1 s.")), "rateLimit"],
  ["a large body", answer(413, failure("The body is larger than 4194304 bytes.")), "maxBody"],
  ["another refusal", answer(404, failure("There is no session.")), "404"],
  ["an internal error", answer(500, failure("Internal error", -32603)), "500"],
  ["another JSON-RPC error", answer(200, failure("Unknown tool", -32602)), "-32602"],
])("%s has its verdict", (_, given, verdict) => {
  expect(verdictOf(given)).toBe(verdict);
});
