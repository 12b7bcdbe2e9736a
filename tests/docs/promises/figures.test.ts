import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { unitsOf } from "./page-units.ts";

/* The figures of the guides are those of the source of the library. */

/** A part of a sentence or of a row, and the constants with its figures in the same order: `file.ts name`, or `name` in the same file. */
type Figures = readonly [says: string, ...constants: string[]];

const figures: Readonly<Record<string, readonly Figures[]>> = {
  "reference/limits.md": [
    ["`maxBody` | 4 MiB", "http/server/request-limits.ts maxBody"],
    ["`maxLineBytes` of `serveStdio` | 16 MiB", "stdio/lines.ts DEFAULT_MAX_LINE_BYTES"],
    ["`limits.depth`, `limits.elements` | 64, 100,000", "server/core/options.ts depth", "elements"],
    ["`limits.batch` | 100", "server/core/options.ts batch"],
    ["`limits.idLength` | 1,024", "server/core/options.ts idLength"],
    ["`limits.completionLength` | 1,024", "server/core/options.ts completionLength"],
    ["slices of 262,144 characters", "node/body-writer.ts SLICE"],
    ["slices of 262,144 characters", "stdio/line-writer.ts FULL_CHARS"],
    ["in which 16 KiB or more wait for the platform", "http/fetch/fetch-exchange.ts smallBacklog"],
    ["`limits.unread` | a quarter"],
    ["`limits.unread` | a half"],
    ["`limits.unread` | 256 MiB", "server/core/options.ts unread"],
    ["`readTimeout` | 60 s", "http/server/unread-replies.ts readTimeout"],
    ["`maxUnreadBytes` of `serveStdio` | 64 MiB", "stdio/line-writer.ts DEFAULT_MAX_UNREAD_BYTES"],
    ["`bodyTimeout` | 30 s", "http/server/request-limits.ts bodyTimeout"],
    ["`headersTimeout` of `listen` | 10 s", "node/listen.ts options.headersTimeout"],
    ["`requestTimeout` of `listen` | 40 s", "node/listen.ts requestTimeout"],
    ["`keepAliveTimeout` of `listen` | 65 s", "node/listen.ts keepAliveTimeout"],
    ["`limits.askTimeout` | 10 min", "server/core/options.ts askTimeout"],
    ["`limits.stateTtl` | 30 min", "server/core/options.ts stateTtl"],
    ["`sessions.idle` | 30 min", "http/server/sessions/sessions.ts defaultIdleTimeout"],
    ["`sessions.handshake` | 30 s", "http/server/sessions/session-shares.ts handshake"],
    ["`limits.requests` | 10,240", "server/core/options.ts requests"],
    ["`limits.inFlight` | 1,024", "server/core/options.ts inFlight"],
    ["`limits.bodies` | 256 MiB", "server/core/options.ts bodies"],
    ["`limits.listenStreams` | 1,024", "server/core/options.ts listenStreams"],
    ["`limits.notificationRate` | 1,000", "server/core/options.ts notificationRate"],
    ["`limits.pageSize` | 1,000", "server/core/options.ts pageSize"],
    ["`sessions.max` | 10,000", "http/server/sessions/session-shares.ts defaultMaxSessions"],
    ["`sessions.totalSize` | 67,108,864", "http/server/sessions/session-shares.ts totalSize"],
    ["`limits.sessionSize` | 65,536", "server/core/options.ts sessionSize"],
    ["`limits.subscriptions` | 1,000", "server/core/options.ts subscriptions"],
    ["`limits.uriLength` | 2,048", "server/core/options.ts uriLength"],
    ["Steps of one validation | 1,000,000", "schema/json-schema/compile.ts DEFAULT_STEPS"],
    ["Introspection requests | 64, 1,000 wait", "auth/server/introspection-verifier.ts running", "waiting"],
    ["Issues that a validation reports | 20", "schema/schema.ts MAX_ISSUES"],
    ["Events that are kept of a stream | 1,000, 5 minutes", "cluster/resumable-streams.ts maxLength", "ttl"],
    ["JSON response or event that answers | 16 MiB", "http/client/posted.ts defaultReplyLimit"],
    ["Event that answers no request | 1 MiB", "http/client/standalone.ts defaultUnaskedEvent"],
    [
      "List of several pages | 64 MiB, 1,000 pages, 100,000 entries",
      "client/lists/list-pages.ts defaultMaxBytes",
      "maxPages",
      "maxEntries",
    ],
    ["Line of a child process | 16 MiB", "stdio/lines.ts DEFAULT_MAX_LINE_BYTES"],
    ["Time without an answer or progress | 60 s", "rpc/pending-requests.ts DEFAULT_IDLE_TIMEOUT"],
    ["Time of a call in all | 30 minutes", "client/calls/call.ts defaultTotal"],
    [
      "Size of a server's schema | 64 levels, 5,000 subschemas",
      "schema/json-schema/document.ts MAX_DEPTH",
      "MAX_SUBSCHEMAS",
    ],
    ["subschemas, 1 MiB", "schema/json-schema/copy-schema.ts MAX_LENGTH"],
    ["Redirects within the origin | 3", "http/client/send.ts MAX_HOPS"],
    [
      "Cached results | 256, 8,388,608 characters in all, 1,048,576 each",
      "client/lists/cache.ts maxEntries",
      "maxTotal",
      "maxLength",
    ],
    ["Time to connect over HTTP, on Node | 10 s", "node/http-client/sender.ts connectMs"],
    ["Requests of a server at once | 100", "client/legacy/incoming-requests.ts maxIncoming"],
    ["Responses sent at the same time | 8", "client/legacy/incoming-requests.ts maxSending"],
    ["refusals over 100 are dropped", "client/legacy/incoming-requests.ts maxIncoming"],
    ["Custom notifications that wait | 100", "client/connect/server-messages.ts maxWaiting"],
    ["a reply to `resources/read` is 24 MiB", "client/client.ts maxReply"],
    ["A skill may have 16 MiB", "extensions/skills/skill-entry.ts bytes"],
  ],
  "internals/security-model.md": [
    ["URIs have at most 64 KiB", "schema/uri-template-match.ts MAX_URI_LENGTH"],
    ["reports at most 20 issues", "schema/schema.ts MAX_ISSUES"],
    ["a body has at most 4 MiB", "http/server/request-limits.ts maxBody"],
    ["a batch has at most 100 messages", "server/core/options.ts batch"],
    ["follows redirects, at most 3,", "auth/client/guarded-fetch.ts MAX_HOPS"],
    ["A response has at most 1 MiB, and 15 seconds", "auth/client/guarded-fetch.ts MAX_BODY", "TIMEOUT_MS"],
    ["at most 3 sign-ins or requests for scopes", "http/client/send.ts MAX_CHALLENGES"],
    ["repeated at most 30 times", "http/client/send.ts MAX_REPEATS"],
    ["After 2 failed sign-ins", "auth/client/sign-in-limits.ts MAX_FAILURES"],
    ["start no sign-in for 10 minutes", "auth/client/sign-in-limits.ts SIGN_IN_PAUSE_MS"],
  ],
};

const cases = Object.entries(figures).flatMap(([page, rows]) =>
  rows.map(([says, ...constants]) => ({ page, says, constants })),
);

test.each(cases)("$page: $says", ({ page, says, constants }) => {
  expect(unitsOf(page).some(({ text }) => text.includes(says))).toBe(true);
  let file = "";
  const values = constants.map((constant) => {
    const name = constant.split(" ").at(-1) ?? "";
    if (constant.includes(" ")) file = constant.split(" ")[0] ?? "";
    return valueOf(file, name);
  });
  expect(figuresIn(says)).toEqual(values);
});

test("each default in limits.md is compared", () => {
  const rows = unitsOf("reference/limits.md").filter(({ isRow }) => isRow);
  const compared = figures["reference/limits.md"]?.map(([says]) => says) ?? [];
  expect(rows.filter(({ text }) => !compared.some((says) => text.startsWith(says)))).toEqual([]);
});

const units: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, s: 1000, min: 60_000 };

/** The figures in a text: bytes, milliseconds, or numbers without a unit. */
function figuresIn(text: string): number[] {
  const found = text.matchAll(/\b(\d{1,3}(?:,\d{3})*)(?: (KiB|MiB|s|min)(?:econds|utes)?\b)?/g);
  return [...found].map(([, digits = "", unit = ""]) => Number(digits.replaceAll(",", "")) * (units[unit] ?? 1));
}

/** The value of a constant, a member or a default in a source file, such as `8 * 2 ** 20`. */
function valueOf(file: string, name: string): number {
  const source = readFileSync(
    fileURLToPath(new URL(`../../../packages/mcparley/src/${file}`, import.meta.url)),
    "utf8",
  );
  const value = new RegExp(String.raw`\b${name}(?:: number)?(?: =|:| \?\?) (\d[\d_ *]*)`).exec(source)?.[1];
  if (value === undefined) throw new Error(`${file} has no number "${name}".`);
  const factors = value.replaceAll("_", "").split(/(?<!\*)\*(?!\*)/);
  return factors.reduce((product, factor) => {
    const [base = 0, exponent = 1] = factor.split("**").map(Number);
    return product * base ** exponent;
  }, 1);
}
