import { ToolError } from "mcparley";
import { connect } from "mcparley/client";

/** Our client, as the conversations use it. Loads on every runtime. */
export const openPeer = async ({ where, revisionKind, revision, handlers }) => {
  const client = await connect(where, {
    revision,
    elicit: handlers.elicit,
    sample: handlers.sample,
  });
  if (client.server.revisionKind !== revisionKind)
    throw new Error(`the negotiated revision is ${client.server.revisionKind}, not ${revisionKind}`);
  if (revision !== "auto" && client.server.revision !== revision)
    throw new Error(`the negotiated revision is ${client.server.revision}, not ${revision}`);
  return {
    serverName: client.server.info?.name,
    revision: client.server.revision,
    listTools: () => client.listTools().all(),
    callTool: async (name, args, options = {}) => {
      try {
        return await client.callToolResult(name, args, options);
      } catch (error) {
        if (error instanceof ToolError) return error.result;
        throw error;
      }
    },
    listPrompts: () => client.listPrompts().all(),
    getPrompt: (name, args) => client.getPrompt(name, args),
    listResources: () => client.listResources().all(),
    listTemplates: () => client.listResourceTemplates().all(),
    readResource: (uri) => client.readResource(uri),
    complete: async (ref, argument) => (await client.complete(ref, argument)).values,
    subscribe: async (uri, onUpdated) => {
      const subscription = await client.listen({ uris: [uri] }, ({ kind, uri: changed }) => {
        if (kind === "updated") onUpdated(changed);
      });
      return () => subscription.close();
    },
    close: () => client.close(),
  };
};
