import { describe, expect, test } from "vitest";
import type { HttpRequestHead } from "../exchange.ts";
import { makeGuard } from "./host-check.ts";
import { type HttpRefusal, refuseForeign } from "./refusal.ts";

interface Sent {
  host?: string;
  origin?: string;
  secure?: boolean;
}

const headOf = ({ host, origin, secure = false }: Sent): HttpRequestHead => ({
  method: "POST",
  path: "/mcp",
  query: "",
  secure,
  header: (name) => ({ host, origin })[name],
});

/** Returns the guard's refusal of a request, or undefined if the guard accepts it. */
function refusal(options: Parameters<typeof makeGuard>[0], sent: Sent): HttpRefusal | undefined {
  const foreign = makeGuard(options)(headOf(sent));
  return foreign && refuseForeign(foreign, headOf(sent));
}

const loopbackHosts = [
  "localhost",
  "localhost:3000",
  "LocalHost:1",
  "127.0.0.1",
  "127.8.9.10:80",
  "[::1]",
  "[::1]:3000",
];
const foreignHosts = [
  "evil.example",
  "evil.example:3000",
  "localhost.evil.example",
  "app.localhost",
  "127.0.0.1.evil.example",
  "evil.example@localhost",
  "localhost/evil.example",
  "localhost:3000:4000",
  "128.0.0.1",
  "0.0.0.0:3000",
  "192.168.1.5",
  "[::2]",
  "[::1].evil.example",
  "",
  " ",
];

describe("on loopback", () => {
  const options = { boundHost: "127.0.0.1" };

  test.each(loopbackHosts)("accepts the Host %j", (host) => {
    expect(refusal(options, { host })).toBeUndefined();
  });

  test.each(foreignHosts)("refuses the Host %j with 403, the value and the cure", (host) => {
    const refused = refusal(options, { host });
    expect(refused?.status).toBe(403);
    expect(refused?.message).toContain(`"${host}"`);
    expect(refused?.message).toContain("allowedHosts");
  });

  test("refuses a request without a Host", () => {
    expect(refusal(options, {})?.status).toBe(403);
  });

  test.each(["http://localhost:5173", "https://localhost", "http://127.0.0.1:80", "http://[::1]:3000"])(
    "accepts the Origin %j",
    (origin) => {
      expect(refusal(options, { host: "127.0.0.1:3000", origin })).toBeUndefined();
    },
  );

  test.each([
    "https://evil.example",
    "http://localhost.evil.example",
    "http://app.localhost",
    "http://evil.example/localhost",
    "http://localhost@evil.example",
    "http://localhost\\@evil.example",
    "http://localhost\\.evil.example",
    "http://localhost/",
    "http://localhost?evil.example",
    "http://localhost#evil.example",
    "http://%6cocalhost",
    "http:localhost",
    "http:/localhost",
    "http:\\\\localhost",
    "null",
    "localhost",
    "",
  ])("refuses the Origin %j with 403, the value and the cure", (origin) => {
    const refused = refusal(options, { host: "127.0.0.1:3000", origin });
    expect(refused?.status).toBe(403);
    expect(refused?.message).toContain(`"${origin}"`);
    expect(refused?.message).toContain("allowedOrigins");
  });

  test("an accepted host does not make another host acceptable", () => {
    const guard = makeGuard(options);
    expect(guard(headOf({ host: "localhost" }))).toBeUndefined();
    expect(guard(headOf({ host: "evil.example" }))).toBe("host");
    expect(guard(headOf({ host: "localhost" }))).toBeUndefined();
  });
});

describe("on other addresses", () => {
  test("accepts the name that the server is bound to, with any port", () => {
    expect(refusal({ boundHost: "Internal.example" }, { host: "internal.example:3000" })).toBeUndefined();
    expect(refusal({ boundHost: "192.168.1.5" }, { host: "192.168.1.5:3000" })).toBeUndefined();
    expect(refusal({ boundHost: "fe80::1" }, { host: "[fe80::1]:3000" })).toBeUndefined();
  });

  test.each(["0.0.0.0", "::", undefined])("needs allowedHosts for other names if bound to %j", (boundHost) => {
    const bound = boundHost === undefined ? {} : { boundHost };
    expect(refusal(bound, { host: "localhost:3000" })).toBeUndefined();
    expect(refusal(bound, { host: "0.0.0.0:3000" })?.status).toBe(403);
    expect(refusal(bound, { host: "mcp.example.com" })?.status).toBe(403);
    expect(refusal({ ...bound, allowedHosts: ["MCP.example.com"] }, { host: "mcp.example.com:80" })).toBeUndefined();
    expect(refusal({ ...bound, allowedHosts: "any" }, { host: "whatever" })).toBeUndefined();
  });

  test("accepts an allowed host with a port only with that port", () => {
    const options = { allowedHosts: ["mcp.example.com:8443"] };
    expect(refusal(options, { host: "mcp.example.com:8443" })).toBeUndefined();
    expect(refusal(options, { host: "mcp.example.com" })?.status).toBe(403);
  });

  test("accepts any name over TLS, unless allowedHosts is set", () => {
    expect(refusal({}, { host: "mcp.example.com", secure: true })).toBeUndefined();
    expect(refusal({ allowedHosts: ["other.example"] }, { host: "mcp.example.com", secure: true })?.status).toBe(403);
  });

  test("refuses a name without TLS that it accepted over TLS before", () => {
    const guard = makeGuard({});
    expect(guard(headOf({ host: "mcp.example.com", secure: true }))).toBeUndefined();
    expect(guard(headOf({ host: "mcp.example.com", secure: false }))).toBe("host");
  });

  test("refuses pages of the same name at another port", () => {
    const options = { allowedHosts: ["mcp.example.com"] };
    const host = "mcp.example.com:8443";
    expect(refusal(options, { host, origin: "https://mcp.example.com:8443" })).toBeUndefined();
    expect(refusal(options, { host, origin: "https://mcp.example.com:9443" })?.status).toBe(403);
    expect(refusal(options, { host, origin: "https://mcp.example.com" })?.status).toBe(403);
    expect(refusal(options, { host: "mcp.example.com", origin: "https://mcp.example.com:8443" })?.status).toBe(403);
  });

  test("accepts pages of the server's own origin, and of allowedOrigins", () => {
    const options = { allowedHosts: ["mcp.example.com"] };
    const host = "mcp.example.com";
    expect(refusal(options, { host, origin: "https://mcp.example.com" })).toBeUndefined();
    expect(refusal(options, { host, origin: "http://localhost:3000" })?.status).toBe(403);
    expect(refusal(options, { host, origin: "https://app.example.com" })?.status).toBe(403);
    const allowedOrigins = ["https://App.example.com/"];
    expect(refusal({ ...options, allowedOrigins }, { host, origin: "https://app.example.com" })).toBeUndefined();
    expect(refusal({ ...options, allowedOrigins }, { host, origin: "http://app.example.com" })?.status).toBe(403);
    expect(refusal({ ...options, allowedOrigins: "any" }, { host, origin: "null" })).toBeUndefined();
  });
});
