import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { serverInfo } from "../../content.mjs";

const client = new Client(serverInfo, { versionNegotiation: { mode: "auto" } });
const [command, ...args] = process.argv.slice(2);
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
for (const { name, description } of tools) process.stdout.write(`${name}\n  ${description}\n`);
await client.close();
