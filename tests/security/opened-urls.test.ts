import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "mcparley";
import { openUrl } from "mcparley/node";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

describe("an authorization server that sends a command instead of a URL", () => {
  const program = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "mcparley security-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs `mcparley login` against a server with this authorization endpoint, and returns how the browser was started. */
  async function login(authorizationEndpoint: string): Promise<{ code: unknown; started: string[] | undefined }> {
    const log = path.join(folder, "log");
    const browser = path.join(folder, "browser");
    // The person declines at once, so that the command ends.
    const script = `#!${process.execPath}
      const { writeFileSync } = require("node:fs");
      writeFileSync(process.env.LOG, JSON.stringify(process.argv.slice(2)));
      const { searchParams } = new URL(process.argv[2]);
      const back = new URL(searchParams.get("redirect_uri"));
      back.search = new URLSearchParams({ error: "access_denied", state: searchParams.get("state") });
      fetch(back);`;
    writeFileSync(browser, script, { mode: 0o700 });
    const server = createHttpServer((request, response) => {
      const { host = "" } = request.headers;
      const origin = `http://${host}`;
      const documents: Record<string, JsonObject> = {
        "/.well-known/oauth-protected-resource/mcp": { resource: `${origin}/mcp`, authorization_servers: [origin] },
        "/.well-known/oauth-authorization-server": {
          issuer: origin,
          authorization_endpoint: authorizationEndpoint,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
        },
      };
      const document = documents[request.url ?? ""];
      if (request.url === "/register") {
        void text(request).then((body) => {
          response.writeHead(201, { "content-type": "application/json" });
          response.end(JSON.stringify({ ...(JSON.parse(body) as JsonObject), client_id: "registered" }));
        });
        return;
      }
      response.writeHead(document ? 200 : 401, { "content-type": "application/json" });
      response.end(JSON.stringify(document ?? {}));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const child = spawn(process.execPath, [program, "login", url], {
      env: { PATH: process.env.PATH, HOME: folder, BROWSER: browser, LOG: log, MARKER: path.join(folder, "marker") },
      stdio: ["ignore", "ignore", "pipe"],
      // The command waits for the user if the browser does not return to the callback.
      timeout: 150_000,
    });
    child.stderr.resume();
    const [code] = (await once(child, "close")) as [unknown];
    server.closeAllConnections();
    server.close();
    return { code, started: existsSync(log) ? (JSON.parse(readFileSync(log, "utf8")) as string[]) : undefined };
  }

  test.each([
    "https://as.example/$(touch$IFS$MARKER)",
    "https://as.example/;touch$IFS$MARKER;/authorize",
    "https://as.example/authorize?a=1&touch$IFS$MARKER&b=2",
    "https://as.example/|touch$IFS$MARKER|",
  ])(
    "CVE-2025-6514: passes %s to the browser as one argument without a shell",
    async (endpoint) => {
      const { code, started } = await login(endpoint);
      expect(existsSync(path.join(folder, "marker"))).toBe(false);
      expect(code).not.toBe(0);
      expect(started).toHaveLength(1);
      expect(new URL(started![0]!).origin).toBe("https://as.example");
    },
    60_000,
  );

  const unsafe = [
    "file:///bin/sh",
    "javascript:fetch('https://evil.example')",
    "http://as.example/authorize",
    "https://user@as.example/authorize",
    "ms-settings:privacy",
    "-a Calculator",
    "$(touch$IFS$MARKER)",
  ];
  test.each(unsafe)(
    "CVE-2025-6514: does not open %s",
    async (endpoint) => {
      const { code, started } = await login(endpoint);
      expect(existsSync(path.join(folder, "marker"))).toBe(false);
      expect(code).not.toBe(0);
      expect(started).toBeUndefined();
    },
    60_000,
  );

  test.each(unsafe)("CVE-2025-6514: `openUrl` rejects %s", async (url) => {
    const launched: unknown[] = [];
    const launch = async (...args: unknown[]): Promise<void> => void launched.push(args);
    for (const platform of ["win32", "darwin", "linux"] as const) {
      await expect(openUrl(url, { platform, env: { DISPLAY: ":0" }, launch })).rejects.toThrow();
    }
    expect(launched).toEqual([]);
  });

  test.each([
    ["win32", ["rundll32", "url.dll,FileProtocolHandler"]],
    ["darwin", ["open"]],
    ["linux", ["xdg-open"]],
  ] as const)(
    "CVE-2025-6514: on %s a program that is no shell receives the URL as one argument",
    async (platform, opener) => {
      const launched: string[] = [];
      const launch = async (command: string, args: readonly string[]): Promise<void> => {
        launched.push(command, ...args);
      };
      const url = 'https://as.example/$(calc)?a="&calc.exe&^|';
      await openUrl(url, { platform, env: { DISPLAY: ":0" }, launch });
      expect(launched).toEqual([...opener, new URL(url).href]);
    },
  );
});
