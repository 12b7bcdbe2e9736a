import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { serverInfo } from "../../content.mjs";

const client = new Client(serverInfo);
const [command, ...args] = process.argv.slice(2);
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
for (const { name, description } of tools) process.stdout.write(`${name}\n  ${description}\n`);
await client.close();
