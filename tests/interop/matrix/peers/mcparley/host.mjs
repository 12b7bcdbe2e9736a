import { createHost } from "@mcparley/host";
import { drive } from "../../driver.mjs";

/** Returns a model of the AI SDK's specification that gives the answer of the conversation. */
const modelOf = (answer) => ({
  specificationVersion: "v3",
  provider: "scripted",
  modelId: "scripted",
  supportedUrls: {},
  doStream: async () => ({
    stream: new ReadableStream({
      start(controller) {
        controller.enqueue({ type: "stream-start", warnings: [] });
        controller.enqueue({ type: "text-start", id: "0" });
        controller.enqueue({ type: "text-delta", id: "0", delta: answer });
        controller.enqueue({ type: "text-end", id: "0" });
        const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
        controller.enqueue({ type: "finish", usage, finishReason: { unified: "stop", raw: "stop" } });
        controller.close();
      },
    }),
  }),
});

/** A host with one server, as the conversations use it. */
async function openHost({ where, revisionKind, revision, handlers }) {
  const host = await createHost({
    folder: false,
    servers: { peer: { target: where, ...(revision !== "auto" && { revision }) } },
    policy: { trust: "configured", review: "changes", rules: [{ decision: "allow" }] },
    model: modelOf(handlers.sample().content.text),
    renderer: {
      form: () => handlers.elicit(),
      sample: () => ({ action: "allow" }),
      sampled: () => ({ action: "allow" }),
    },
  });
  const server = host.servers.get("peer");
  await server.connect();
  await host.ready();
  if (server.info.revisionKind !== revisionKind)
    throw new Error(`the negotiated revision is ${server.info.revisionKind}, not ${revisionKind}`);
  return {
    serverName: server.info.info?.name,
    revision: server.info.revision,
    listTools: async () => host.catalogue.tools.map(({ tool }) => tool),
    async callTool(name, args, { signal, onProgress } = {}) {
      const offered = host.catalogue.tools.find(({ tool }) => tool.name === name);
      const onActivity = (activity) => activity.type === "progress" && onProgress?.(activity.progress);
      const outcome = await host.callTool(offered.name, args, { signal, onActivity });
      if (outcome.status === "result") return outcome.result;
      if (outcome.status === "denied" || outcome.mayHaveRun) throw new Error(outcome.message);
      // The host checks the arguments before the server does.
      return { content: [{ type: "text", text: outcome.message }], isError: true };
    },
    listPrompts: async () => host.catalogue.prompts.map(({ prompt }) => prompt),
    getPrompt: (name, args) => host.getPrompt(`peer:${name}`, args),
    listResources: async () => host.catalogue.resources.map(({ resource }) => resource),
    listTemplates: async () => host.catalogue.templates.map(({ template }) => template),
    readResource: (uri) => host.readResource("peer", uri),
    complete: async (ref, argument) => (await host.complete("peer", { ref, argument })).values,
    async subscribe(uri, onUpdated) {
      const end = await host.watch({ server: "peer", uri }, onUpdated);
      return async () => end();
    },
    close: () => host.close(),
  };
}

await drive(openHost);
