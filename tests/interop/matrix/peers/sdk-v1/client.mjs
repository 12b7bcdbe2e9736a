import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { drive } from "../../driver.mjs";

await drive(async ({ where, handlers }) => {
  const client = new Client({ name: "sdk-v1", version: "1.0.0" }, { capabilities: { elicitation: {}, sampling: {} } });
  client.setRequestHandler(ElicitRequestSchema, handlers.elicit);
  client.setRequestHandler(CreateMessageRequestSchema, handlers.sample);
  const transport =
    "url" in where
      ? new StreamableHTTPClientTransport(new URL(where.url))
      : new StdioClientTransport({ ...where, stderr: "inherit" });
  await client.connect(transport);
  return {
    serverName: client.getServerVersion()?.name,
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, args, { signal, onProgress } = {}) =>
      client.callTool({ name, arguments: args }, undefined, { signal, ...(onProgress && { onprogress: onProgress }) }),
    listPrompts: async () => (await client.listPrompts()).prompts,
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    listResources: async () => (await client.listResources()).resources,
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    readResource: (uri) => client.readResource({ uri }),
    complete: async (ref, argument) => (await client.complete({ ref, argument })).completion.values,
    subscribe: async (uri, onUpdated) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => onUpdated(params.uri));
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
    async close() {
      if ("url" in where) await transport.terminateSession();
      await client.close();
    },
  };
});
