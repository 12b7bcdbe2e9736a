/**
 * Starts a published MCP server, and writes the definitions of its tools to the archive `corpus/tools.json.gz`.
 *
 *     node tests/host/search/collect.mjs NAME REGISTRY PACKAGE VERSION LICENSE COMMAND [ARGUMENT...]
 *
 * Environment variables of the server are those of this process. The README lists the commands of all servers.
 */
import { pathToFileURL } from "node:url";
import { connect } from "mcparley/client";
import { writeServer } from "./archive.mjs";

/** The depth up to which nested parameters are kept. */
const DEPTH = 2;

/** Keeps the types, descriptions, enumerations and nested properties of a schema. */
export function trimSchema(schema, depth = DEPTH) {
  if (typeof schema !== "object" || schema === null) return {};
  const { type, description, enum: values, properties, required, items } = schema;
  const isDeep = depth > 0;
  const nested = ([name, property]) => [name, trimSchema(property, depth - 1)];
  return {
    ...(type === undefined ? {} : { type }),
    ...(description ? { description } : {}),
    ...(values === undefined ? {} : { enum: values }),
    ...(isDeep && properties ? { properties: Object.fromEntries(Object.entries(properties).map(nested)) } : {}),
    ...(isDeep && required?.length ? { required } : {}),
    ...(isDeep && items && !Array.isArray(items) ? { items: trimSchema(items, depth - 1) } : {}),
  };
}

/** Reads the tools of a server, and writes them. */
export async function collect({ name, source, target }) {
  const client = await connect(target, { signal: AbortSignal.timeout(90_000) });
  const tools = [];
  for await (const { name: tool, title, description, inputSchema } of client.listTools()) {
    tools.push({ name: tool, ...(title ? { title } : {}), description, inputSchema: trimSchema(inputSchema) });
  }
  const { title, description } = client.server.info;
  await client.close();
  const server = { server: name, ...source, ...(title ? { title } : {}), ...(description ? { description } : {}) };
  writeServer({ ...server, tools });
  return tools.length;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [name, registry, packageName, version, license, command, ...args] = process.argv.slice(2);
  const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined));
  const source = { registry, package: packageName, version, license };
  const count = await collect({ name, source, target: { command, args, env } });
  process.stdout.write(`${name}: ${count} tools\n`);
}
