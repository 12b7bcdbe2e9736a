import type { JsonObject, JsonRpcRequest } from "mcparley";
import { LocalError, openClient } from "mcparley/client";
import { modernPeer, peerTransports } from "mcparley/testing";
import { hostileSchemas, schemaOf, valueOf } from "./hostile-schemas.ts";

/*
 * A client of a hostile server. The arguments name the direction and the schema. It writes the outcome of two calls and
 * its CPU time to stdout as JSON.
 */

const [direction = "", name = ""] = process.argv.slice(2);
const hostile = hostileSchemas[name]!;
const complete = { resultType: "complete" };

function callTool({ params }: JsonRpcRequest): JsonObject {
  const { name, inputResponses } = params as { name: string; inputResponses?: JsonObject };
  if (name === "hello") return { ...complete, content: [{ type: "text", text: "hello" }] };
  if (direction === "output") return { ...complete, content: [], structuredContent: valueOf(hostile) };
  if (inputResponses) return { ...complete, content: [{ type: "text", text: "answered" }] };
  const form = { mode: "form", message: "Please fill in this form.", requestedSchema: schemaOf(hostile) };
  return { resultType: "input_required", inputRequests: { form: { method: "elicitation/create", params: form } } };
}

const inputSchema = { type: "object" };
const tools = [
  { name: "trap", inputSchema, ...(direction === "output" && { outputSchema: schemaOf(hostile) }) },
  { name: "hello", inputSchema },
];
const server = modernPeer({
  answers: {
    "tools/list": () => ({ ...complete, tools, ttlMs: 0, cacheScope: "public" }),
    "tools/call": callTool,
  },
});

const client = await openClient(peerTransports(server), {
  elicit: () => ({ action: "accept", content: valueOf(hostile) }),
  onError: () => {},
});
await client.listTools().all();
const trap = await client.callToolResult("trap").then(
  () => "returned",
  (error: unknown) => (error instanceof LocalError ? error.code : String(error)),
);
const next = await client.callTool("hello");
await client.close();
const { user } = process.cpuUsage();
process.stdout.write(JSON.stringify({ trap, next, seconds: Math.floor(user / 1_000_000) }));
