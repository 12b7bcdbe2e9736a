import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { drive } from "../../driver.mjs";

await drive(async ({ where, revisionKind, handlers }) => {
  const client = new Client(
    { name: "sdk-v2", version: "1.0.0" },
    {
      capabilities: { elicitation: { form: {} }, sampling: {} },
      versionNegotiation: { mode: revisionKind === "modern" ? "auto" : "legacy" },
    },
  );
  client.setRequestHandler("elicitation/create", handlers.elicit);
  client.setRequestHandler("sampling/createMessage", handlers.sample);
  const transport =
    "url" in where
      ? new StreamableHTTPClientTransport(new URL(where.url))
      : new StdioClientTransport({ ...where, stderr: "inherit" });
  await client.connect(transport);
  return {
    serverName: client.getServerVersion()?.name,
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, args, { signal, onProgress } = {}) =>
      client.callTool({ name, arguments: args }, { signal, ...(onProgress && { onprogress: onProgress }) }),
    listPrompts: async () => (await client.listPrompts()).prompts,
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    listResources: async () => (await client.listResources()).resources,
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    readResource: (uri) => client.readResource({ uri }),
    complete: async (ref, argument) => (await client.complete({ ref, argument })).completion.values,
    subscribe: async (uri, onUpdated) => {
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => onUpdated(params.uri));
      if (revisionKind === "modern") {
        const subscription = await client.listen({ resourceSubscriptions: [uri] });
        return () => subscription.close();
      }
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
    async close() {
      if ("url" in where && revisionKind === "legacy") await transport.terminateSession();
      await client.close();
    },
  };
});
