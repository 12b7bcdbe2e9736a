import { describe, expect, test } from "vitest";
import * as client from "../client.ts";
import * as http from "../http.ts";
import * as root from "../index.ts";
import * as server from "../server.ts";
import * as stdio from "../stdio.ts";
import * as node from "../node.ts";

const entries: Record<string, object> = { client, http, node, server, stdio };
/** A function of an entry that throws. */
const call = (entry: object, name: string): unknown => (entry as Record<string, () => unknown>)[name]?.();
const construct = (entry: object, name: string): unknown => {
  const found: unknown = (entry as Record<string, unknown>)[name];
  return new (found as new (given: object) => unknown)({});
};

describe("a function that is imported from the wrong entry names the right one", () => {
  const rows = [
    ...["createServer", "tool", "prompt", "resource"].map((name) => ["mcparley", root, name, "server"] as const),
    ...["mcparley", "mcparley/server"].flatMap((label) => {
      const entry = label === "mcparley" ? root : server;
      return [
        [label, entry, "connect", "client"] as const,
        [label, entry, "serveStdio", "stdio"] as const,
        [label, entry, "listen", "node"] as const,
        [label, entry, "toFetch", "http"] as const,
      ];
    }),
  ];

  test.each(rows)("%s: $2 is in mcparley/$3", (_label, entry, name, right) => {
    expect(() => call(entry, name)).toThrow(`Write import { ${name} } from "mcparley/${right}".`);
    expect((entries[right] as Record<string, unknown>)[name]).toBeTypeOf("function");
    expect((entries[right] as Record<string, unknown>)[name]).not.toBe((entry as Record<string, unknown>)[name]);
  });
});

describe("a class of another library names the function to use", () => {
  test.each([
    [root, "McpServer", "createServer({ name, version, tools:"],
    [server, "McpServer", "createServer({ name, version, tools:"],
    [stdio, "StdioServerTransport", "serveStdio(server)"],
    [http, "StreamableHTTPServerTransport", "toFetch(server), or listen(server, { port })"],
    [client, "StdioClientTransport", "connect({ command, args })"],
    [client, "StreamableHTTPClientTransport", "connect(url)"],
  ])("%#: %2$s", (entry, name, cure) => {
    expect(() => construct(entry, name)).toThrow(`mcparley has no ${name}. Use ${cure}`);
  });
});
