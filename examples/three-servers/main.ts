import { type Client, type ConnectTarget, ToolError, connect } from "mcparley/client";
import { closeLocalServer, servers } from "./servers.ts";

/** A tool of one of the servers, under a name that is unique among all servers. */
interface OfferedTool {
  client: Client;
  name: string;
  description: string;
}

const clients = new Map<string, Client>();
const tools = new Map<string, OfferedTool>();

try {
  await Promise.all(Object.entries(servers).map(([server, target]) => open(server, target)));
  for (const [name, { description }] of tools) console.log(`${name}: ${description}`);

  // A program for a model passes the list of tools on, and calls the tools that the model names.
  console.log(await call("library__query", { sql: "SELECT title FROM books WHERE year < 1815" }));
  console.log(await call("handbook__search_documents", { query: "who leads an incident", limit: 1 }));
  console.log(await call("clock__time_in", { zone: "Asia/Tokyo", at: "2026-07-28T12:00:00Z" }));
} finally {
  await Promise.all([...clients.values()].map((client) => client.close()));
  await closeLocalServer();
}

/** Connects to a server and collects its tools. A server that is unavailable does not stop the others. */
async function open(server: string, target: ConnectTarget): Promise<void> {
  try {
    const client = await connect(target, { info: { name: "three-servers", version: "1.0.0" } });
    clients.set(server, client);
    for await (const { name, description = "" } of client.listTools()) {
      tools.set(`${server}__${name}`, { client, name, description });
    }
  } catch (error) {
    console.error(`${server} is unavailable: ${String(error)}`);
  }
}

/** Calls a tool of any server. Errors of a tool are text, so that a model can read them. */
async function call(name: string, args: Record<string, unknown>): Promise<string> {
  const tool = tools.get(name);
  if (!tool) return `There is no tool "${name}".`;
  try {
    const result = await tool.client.callTool(tool.name, args, { timeout: { total: 60_000 } });
    return typeof result === "string" ? result : JSON.stringify(result);
  } catch (error) {
    if (error instanceof ToolError) return `The tool failed: ${error.message}`;
    throw error;
  }
}
