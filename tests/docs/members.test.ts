import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "mcparley/client";
import { type Server, createServer, tool } from "mcparley/server";
import { expect, test } from "vitest";
import { documents } from "./extract-samples.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
// The pages about migration name members of other libraries.
const guides = documents().filter((page) => !page.includes("migrate/"));

test("the members of ctx, client and server in the text exist", async () => {
  const parts: Record<string, object> = {};
  const probe = tool({
    call: (_, ctx) => {
      parts.ctx = ctx;
      return "";
    },
  });
  parts.server = createServer({ name: "probe", version: "1.0.0", tools: { probe } });
  parts.client = await connect(parts.server as Server);
  await (parts.client as Client).callTool("probe");
  await (parts.client as Client).close();
  // Of a resource, of Workers, of Koa, of other options, a file, and attributes of traces.
  const koa = ["ctx.body", "ctx.request", "ctx.respond"];
  const others = [...koa, "ctx.uri", "ctx.waitUntil", "client.id", "server.yaml", "server.address", "server.port"];
  const text = guides.map((guide) => readFileSync(path.join(root, guide), "utf8")).join("\n");
  const named = [...text.matchAll(/`((ctx|client|server)\.(\w+))[^`\n]*`/g)];
  expect(named.length).toBeGreaterThan(50);
  const missing = named.filter(
    ([, name = "", part = "", member = ""]) => !others.includes(name) && !(member in parts[part]!),
  );
  expect(missing.map(([, name]) => name)).toEqual([]);
});
