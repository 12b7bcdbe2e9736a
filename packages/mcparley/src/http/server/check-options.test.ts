import { describe, expect, test } from "vitest";
import { listen } from "../../node/listen.ts";
import { toNodeHandler } from "../../node/node-handler.ts";
import { createServer } from "../../server/create-server.ts";
import { toFetch } from "../fetch/to-fetch.ts";
import type { HttpOptions } from "./options.ts";

const server = createServer({ name: "x", version: "1" });
const authenticate = (): undefined => undefined;
const entry = { authenticate, match: authenticate };

const wrongOptions: [options: unknown, message: string][] = [
  [5, '"options" must be an object'],
  ["/mcp", '"options" must be an object'],
  [{ alowedHosts: [] }, 'unknown member "alowedHosts"; did you mean "allowedHosts"?'],
  [{ path: 5 }, '"options.path" must be a string; got number 5'],
  [{ path: "http://localhost/mcp" }, '"path" must be a path, such as "/mcp"'],
  [{ allowedHosts: "example.com" }, '"options.allowedHosts" must be a list of texts or "any"; got string'],
  [{ allowedHosts: [5] }, '"options.allowedHosts" must be a list of texts or "any"; got a list'],
  [{ allowedHosts: ["https://example.com"] }, 'write entries such as "example.com", or "any"'],
  [{ allowedHosts: ["example.com/mcp"] }, 'write entries such as "example.com", or "any"'],
  [{ allowedHosts: ["*"] }, '"allowedHosts" cannot match "*"; write entries'],
  [{ allowedHosts: ["*.example.com"] }, "such as"],
  [{ allowedOrigins: "*" }, '"options.allowedOrigins" must be a list of texts or "any"; got string'],
  [{ allowedOrigins: ["app.example.com"] }, 'write entries such as "https://example.com", or "any"'],
  [{ allowedOrigins: ["https://app.example.com/page"] }, 'write entries such as "https://example.com", or "any"'],
  [{ allowedOrigins: ["https://*.example.com"] }, "such as"],
  [{ cors: "yes" }, '"options.cors" must be a boolean or an object; got string'],
  [{ cors: { origin: "*" } }, '"cors" has the unknown member "origin"'],
  [{ cors: { headers: "x" } }, '"cors.headers" must be a list of texts; got string'],
  [{ cors: { credentials: "yes" } }, '"cors.credentials" must be a boolean; got string'],
  [{ cors: { maxAge: "1" } }, '"cors.maxAge" must be a whole number, 0 or more; got string'],
  [{ cors: { credentials: true }, allowedOrigins: "any" }, "cors.credentials needs a list of allowedOrigins"],
  [{ auth: "a secret" }, '"options.auth" must be a function or an object or a list; got string'],
  [{ auth: null }, '"options.auth" must be a function or an object or a list; got object null'],
  [{ auth: false }, '"options.auth" must be a function or an object or a list; got boolean'],
  [{ auth: {} }, '"auth" needs `authenticate`, such as bearer(...)'],
  [{ auth: { verify: authenticate } }, '"auth" needs `authenticate`'],
  [{ auth: [] }, 'A list in "auth" needs entries with `match` and `authenticate`'],
  [{ auth: [authenticate, authenticate] }, 'A list in "auth" needs entries with `match`'],
  [{ auth: [entry, { authenticate }] }, 'A list in "auth" needs entries with `match`'],
  [{ auth: [entry, { match: authenticate }] }, 'A list in "auth" needs entries with `match`'],
  [{ auth: [entry, null] }, 'A list in "auth" needs entries with `match`'],
  [{ auth: [entry, { ...entry, match: "x" }] }, 'A list in "auth" needs entries with `match`'],
  [{ maxBody: "4mb" }, '"options.maxBody" must be a whole number, 0 or more; got string'],
  [{ maxBody: -1 }, "got number -1"],
  [{ maxBody: 1.5 }, "got number 1.5"],
  [{ maxBody: Number.NaN }, "got number NaN"],
  [{ bodyTimeout: "30s" }, '"options.bodyTimeout" must be a number of milliseconds, 0 or more; got string'],
  [{ keepAlive: false }, '"options.keepAlive" must be a number of milliseconds, 0 or more; got boolean'],
  [{ closeTimeout: -1 }, '"options.closeTimeout" must be a number of milliseconds, 0 or more; got number -1'],
  [{ trustProxy: true }, '"options.trustProxy" must be a string or an object; got boolean'],
  [{ trustProxy: {} }, '"trustProxy" needs a "header"'],
  [{ trustProxy: { header: "forwarded", hop: 2 } }, '"trustProxy" has the unknown member "hop"; did you mean "hops"?'],
  [
    { trustProxy: { header: "forwarded", hops: 0 } },
    '"trustProxy.hops" must be a whole number, 1 or more; got number 0',
  ],
  [{ health: "/healthz" }, '"options.health" must be a boolean or an object; got string'],
  [{ health: { path: "/x" } }, '"health" has the unknown member "path"'],
  [{ health: { live: 5 } }, '"health.live" must be a string; got number 5'],
  [{ sessions: "no" }, '"options.sessions" must be a boolean or an object; got string'],
  [{ sessions: { idle: "30m" } }, '"sessions.idle" must be a number of milliseconds, 0 or more; got string'],
  [{ sessions: { max: -1 } }, '"sessions.max" must be a whole number, 0 or more; got number -1'],
  [{ sessions: { ttl: 5 } }, '"sessions" has the unknown member "ttl"'],
  [{ legacySse: "/sse" }, '"options.legacySse" must be a boolean or an object; got string'],
  [{ legacySse: { path: 5 } }, '"legacySse.path" must be a string; got number 5'],
  [{ legacySse: { sse: "/x" } }, '"legacySse" has the unknown member "sse"'],
  [{ events: true }, '"options.events" must be an object; got boolean'],
  [{ events: { ttl: "5" } }, '"events.ttl" must be a number of milliseconds, 0 or more; got string'],
  [{ store: {} }, 'use "createServer({ store })" instead of "store"'],
];

const starts: [name: string, serve: (options: HttpOptions) => unknown][] = [
  ["toFetch", (options) => toFetch(server, options)],
  ["toNodeHandler", (options) => toNodeHandler(server, options)],
  ["listen", async (options) => (await listen(server, { port: 0, ...options })).close()],
];

test.each(["port", "host", "hostname", "headersTimeout", "requestTimeout", "keepAliveTimeout"])(
  "the option %s belongs to listen",
  (option) => {
    const message = `use "an option of listen" instead of "${option}"`;
    for (const serve of [toFetch, toNodeHandler]) expect(() => serve(server, { [option]: 3000 })).toThrow(message);
  },
);

describe.each(starts)("%s", (name, serve) => {
  test.each(wrongOptions)("refuses the options %j at the start", async (options, message) => {
    if (name === "listen" && typeof options !== "object") return;
    const starting = Promise.resolve().then(() => serve(options as HttpOptions));
    await expect(starting).rejects.toMatchObject({
      code: "invalid_definition",
      message: expect.stringContaining(message),
    });
  });

  test.each<object>([
    { allowedHosts: ["example.com", "example.com:8080", "[::1]:3000", "localhost"], allowedOrigins: "any" },
    { allowedOrigins: ["https://app.example.com", "https://app.example.com/", "chrome-extension://abc", "null"] },
    { auth: authenticate, cors: { headers: ["x-a"], maxAge: 0 }, bodyTimeout: Infinity, maxBody: 1 },
    { auth: [entry], trustProxy: { header: "forwarded", hops: 2 }, sessions: { idle: Infinity }, health: {} },
    { auth: undefined, events: { ttl: 5_000 }, legacySse: { path: "/a", messages: "/b" }, path: "/mcp" },
  ])("accepts the options %j", async (options) => {
    await serve(options);
  });
});

test.each<[unknown, string]>([
  [{ port: "http" }, '"port" must be a whole number from 0 to 65535; got http.'],
  [{ port: 65_536 }, "got 65536."],
  [{ port: -1 }, "got -1."],
  [{ port: Number.NaN }, "got NaN."],
  [{ port: "" }, "got ."],
  [{}, "got undefined."],
  [undefined, "got undefined."],
  [{ port: 0, hostname: "localhost" }, 'use "host" instead of "hostname"'],
  [{ port: 0, host: 5 }, '"options.host" must be a string; got number 5'],
  [
    { port: 0, headersTimeout: "1" },
    '"options.headersTimeout" must be a number of milliseconds, 0 or more; got string',
  ],
  [{ port: 0, requestTimeout: -1 }, '"options.requestTimeout" must be a number of milliseconds'],
  [{ port: 0, keepAliveTimeout: Number.NaN }, '"options.keepAliveTimeout" must be a number of milliseconds'],
])("listen refuses %j", async (options, message) => {
  await expect(listen(server, options as never)).rejects.toMatchObject({
    code: "invalid_definition",
    message: expect.stringContaining(message),
  });
});
