import fc from "fast-check";
import { expect } from "vitest";
import { connect } from "../../packages/mcparley/src/connect.ts";
import { readAccept } from "../../packages/mcparley/src/http/server/read-request.ts";
import { Endpoint } from "../../packages/mcparley/src/http/server/endpoint.ts";
import { makeGuard } from "../../packages/mcparley/src/http/server/host-check.ts";
import { HttpRefusal } from "../../packages/mcparley/src/http/server/refusal.ts";
import { McpError } from "../../packages/mcparley/src/mcp/errors.ts";
import { coreOf } from "../../packages/mcparley/src/server/create-server.ts";
import { fakeClock } from "../../packages/mcparley/src/testing/fake-clock.ts";
import { chunksOf, chunkedOf, growingOf, textOf, webStream } from "./arbitraries/bytes.ts";
import { anyMessage, mostly } from "./arbitraries/messages.ts";
import { holds } from "./holds.ts";
import { expectLinearTime } from "../support/linear-time.ts";
import { onlyOwnErrors } from "./own-errors.ts";
import { type Headers_, fakeExchange } from "./fake-exchange.ts";
import { target } from "./target.ts";
import { timeFlow } from "./time-flow.ts";

const hostWords = [
  "localhost",
  "127.0.0.1",
  "[::1]",
  ":3000",
  ":",
  ".",
  "@",
  "/",
  "example.com",
  "[",
  "]",
  "LOCALHOST",
  "127.0.0.1.example.com",
  "\\",
  "#",
  " ",
];
const originWords = ["http://", "https://", "null", ...hostWords];

holds(
  "Host and Origin: only loopback names are accepted, whatever the headers contain",
  fc.tuple(textOf(...hostWords), fc.option(textOf(...originWords), { nil: undefined })),
  async ([host, origin]) => {
    const guard = makeGuard({});
    const headers: Headers_ = { host, ...(origin !== undefined && { origin }) };
    const { exchange } = fakeExchange({ headers });
    if (guard(exchange) !== undefined) return;
    expect(new URL(`http://${host}`).hostname).toMatch(/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/);
    if (origin !== undefined) expect(new URL(origin).hostname).toMatch(/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/);
  },
);

const acceptWords = ["application/json", "text/event-stream", "*/*", ",", ";", "q=0", "q=", " ", ";q=0."];

holds(
  "headers: read in linear time",
  fc.tuple(growingOf(...hostWords), growingOf(...acceptWords)),
  async ([host, accept]) => {
    const guard = makeGuard({});
    await expectLinearTime(host, (text) =>
      onlyOwnErrors(() => guard(fakeExchange({ headers: { host: text, origin: text } }).exchange), HttpRefusal),
    );
    await expectLinearTime(accept, (text) => onlyOwnErrors(() => readAccept(text), HttpRefusal));
  },
  { runs: 20 },
);

const headers: fc.Arbitrary<Headers_> = fc.record(
  {
    host: fc.constantFrom("localhost", "localhost", "localhost:3000", "evil.example"),
    origin: fc.constantFrom("http://localhost", "null", "https://evil.example"),
    accept: fc.oneof(
      fc.constantFrom("application/json, text/event-stream", "*/*", "application/json", "text/html"),
      textOf(...acceptWords),
    ),
    "content-type": fc.constantFrom("application/json", "application/json; charset=utf-8", "text/plain"),
    "mcp-protocol-version": fc.constantFrom("2026-07-28", "2025-11-25", "2025-03-26", "nope"),
    "mcp-session-id": fc.constantFrom("nope", "é", ""),
    "mcp-method": fc.constantFrom("tools/call", "tools/list", "ping", "=?base64?dG9vbHMvY2FsbA==?="),
    "mcp-name": fc.oneof(
      fc.constantFrom("echo", "=?base64?ZWNobw==?=", "=?base64?_?=", "__proto__"),
      textOf("=?base64?", "?="),
    ),
    "mcp-param-region": fc.constantFrom("eu", "=?base64?ZXU=?="),
    "last-event-id": fc.constantFrom("1", ""),
    "content-length": fc.constantFrom("5", "x"),
    "content-encoding": fc.constantFrom("identity", "gzip"),
  },
  { requiredKeys: ["host", "content-type"] },
);

const posted = fc.record({
  method: fc.oneof(
    { weight: 8, arbitrary: fc.constant("POST") },
    { weight: 1, arbitrary: fc.constantFrom("GET", "DELETE", "PUT", "OPTIONS") },
  ),
  headers,
  message: anyMessage,
  /** Whether the headers match the body, as those of a correct client. */
  agrees: fc.boolean(),
  raw: fc.option(chunkedOf("{", "}", '"', "[", '"jsonrpc"', ":", '"2.0"'), { nil: undefined, freq: 6 }),
});

holds(
  "HTTP: any request is answered once, with no server error",
  posted,
  async ({ method, headers, message, agrees, raw }) => {
    const clock = fakeClock();
    const errors: unknown[] = [];
    const server = target({ clock, onError: (error) => errors.push(error) });
    const endpoint = new Endpoint(coreOf(server), { keepAlive: 1_000 });
    const text = raw ? Buffer.from(raw.bytes).toString("latin1") : JSON.stringify(message);
    const asked = fakeExchange({
      method,
      headers: agrees ? { ...headers, ...mirrored(message) } : headers,
      body: text,
    });
    void endpoint.handle(asked.exchange);
    const { status } = await asked.outcome;
    expect(status).toBeGreaterThanOrEqual(200);
    expect(status).toBeLessThan(500);
    expect(errors).toEqual([]);
    asked.leave();
    await endpoint.close();
    expect(endpoint.inFlight).toBe(0);
    expect(endpoint.sessions).toBe(0);
    await server.close();
    expect(clock.pending).toBe(0);
  },
);

/** The headers that belong to a modern message. */
function mirrored(message: unknown): Headers_ {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: Record<string, unknown> };
  const meta = (params?._meta ?? {}) as Record<string, unknown>;
  const given = {
    "mcp-protocol-version": meta["io.modelcontextprotocol/protocolVersion"],
    "mcp-method": method,
    "mcp-name": params?.name ?? params?.uri,
  };
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

const answered = fc.record({
  status: fc.constantFrom(200, 200, 200, 200, 202, 204, 400, 401, 403, 404, 405, 500, 503, 301, 307),
  type: fc.constantFrom("application/json", "text/event-stream", "text/html", ""),
  more: fc.record(
    {
      location: textOf("http://", "localhost", "/", "evil"),
      "retry-after": textOf("1", "x", "9999"),
      "www-authenticate": textOf("Bearer ", "="),
      "mcp-session-id": textOf("a"),
    },
    { requiredKeys: [] },
  ),
  message: mostly(anyMessage),
  framed: fc.boolean(),
  body: chunkedOf(
    "data: ",
    "\n\n",
    "\n",
    "{}",
    '{"jsonrpc":"2.0","id":0,"result":{}}',
    '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}',
    "id: 1\n",
    "retry: 1\n",
  ),
});

const fallback = {
  status: 404,
  type: "",
  more: {},
  message: null,
  framed: false,
  body: { bytes: new Uint8Array(), cuts: [] },
};

holds(
  "HTTP: connecting and calling end with a result or an error of the library, whatever a server answers",
  fc.tuple(fc.array(answered, { minLength: 1, maxLength: 6 }), fc.constantFrom("auto", "2025-11-25")),
  async ([answers, revision]) => {
    const clock = fakeClock();
    let asked = 0;
    const fetch: typeof globalThis.fetch = async () => {
      const { status, type, more, message, framed, body } = answers[asked++ % answers.length] ?? fallback;
      const headers = new Headers(type === "" ? {} : { "content-type": type });
      for (const [name, value] of Object.entries(more)) if (/^[\t -~]*$/.test(value)) headers.set(name, value);
      if (status === 204) return new Response(null, { status, headers });
      const text = JSON.stringify(message);
      const chunks = framed ? [Buffer.from(type === "text/event-stream" ? `data: ${text}\n\n` : text)] : chunksOf(body);
      return new Response(webStream(chunks), { status, headers });
    };
    const using = async (): Promise<void> => {
      const client = await connect("http://localhost/mcp", { fetch, revision, clock });
      try {
        await onlyOwnErrors(() => client.callTool("echo", { text: "x" }), McpError);
        await onlyOwnErrors(() => client.listTools().all(), McpError);
        expect(client.inFlight).toBe(0);
      } finally {
        await client.close();
      }
    };
    const used = onlyOwnErrors(using, McpError);
    const timePasses = timeFlow(clock);
    await used.finally(() => timePasses.end());
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  },
  { runs: 20 },
);
