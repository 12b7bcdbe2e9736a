import { type Client, connect } from "mcparley/client";
import { prompt, resource, createServer, tool } from "mcparley/server";
import { expect, test } from "vitest";
import type { CallTool } from "../calls/tool-call.ts";
import type { Catalogue, CatalogueTool } from "../catalogue/catalogue.ts";
import { ResultStore } from "../conversation/server-text.ts";
import { ActiveRun } from "../loop/run.ts";
import { answerStep, call, finish, scriptedStream, testParts } from "../loop/testing/run-fixtures.ts";
import { type ConversationParts, createConversation } from "./create-conversation.ts";

const texts = new Map([["1", "Buy milk."]]);

function notesServer() {
  return createServer({
    name: "notes",
    version: "1.0.0",
    tools: { read: tool({ description: "Reads.", input: { type: "object" }, call: () => [...texts.values()].join() }) },
    resources: {
      note: resource("note://{id}", {
        complete: { id: () => [...texts.keys()] },
        read: ({ id }) => texts.get(id) ?? "",
      }),
    },
    prompts: { sum: prompt({ description: "Sums up.", get: () => "Sum up my notes." }) },
  });
}

async function catalogueOf(client: Client): Promise<Catalogue> {
  const tools = (await client.listTools().all()).map((tool): CatalogueTool => {
    return {
      name: tool.name,
      server: "notes",
      tool,
      description: tool.description ?? "",
      inputSchema: tool.inputSchema,
    };
  });
  const prompts = (await client.listPrompts().all()).map((prompt) => ({
    name: `notes:${prompt.name}`,
    server: "notes",
    prompt,
  }));
  const templates = (await client.listResourceTemplates().all()).map((template) => ({ server: "notes", template }));
  return {
    tools,
    prompts,
    templates,
    resources: [],
    tool: (name) => tools.find((entry) => entry.name === name),
    prompt: (name) => prompts.find((entry) => entry.name === name),
  };
}

/** Returns the parts of a conversation with one client. */
function clientParts(client: Client, catalogue: Catalogue): ConversationParts {
  return {
    catalogue: () => catalogue,
    readResource: ({ uri }, options) => client.readResource(uri, { ...options, fresh: true }),
    async watch({ uri }, onUpdated) {
      const subscription = await client.listen({ uris: [uri] }, onUpdated);
      return () => subscription.close();
    },
    getPrompt: (name, args, options) => client.getPrompt(name.replace("notes:", ""), { ...args }, options),
    complete: ({ ref, argument, context }, options) =>
      client.complete(ref, { ...argument }, { ...options, ...(context ? { context: { ...context } } : {}) }),
    callTool: () => Promise.reject(new Error("Only the model calls tools.")),
    results: new ResultStore(),
    secrets: { messageWithoutSecrets: (value) => value, uriWithoutSecrets: (uri) => uri },
  };
}

test.each(["2025-11-25", "2026-07-28"])("a conversation with a server of revision %s", async (revision) => {
  const server = notesServer();
  const client = await connect(server, { revision });
  const catalogue = await catalogueOf(client);
  const conversation = createConversation(clientParts(client, catalogue));
  const of = { server: "notes", uriTemplate: "note://{id}" };
  const found = await conversation.completeArgument({ of, argument: { name: "id", value: "" } });
  expect(found).toEqual({ values: ["1"], hasMore: false });
  const attached = await conversation.attachTemplate({ ...of, variables: { id: "1" } });
  expect(attached).toMatchObject({ uri: "note://1", isFollowed: true });

  texts.set("1", "Buy bread.");
  server.resources.updated("note://1");
  await expect.poll(() => conversation.attachments[0]?.isStale).toBe(true);
  await conversation.prompt("notes:sum");

  const callTool: CallTool = async ({ tool, arguments: args, signal }) => ({
    status: "result",
    result: await client.callToolResult(tool.tool.name, args, { signal }),
  });
  const model = scriptedStream([[call("read"), finish("tool-calls")], answerStep]);
  const parts = testParts(model.stream, { callTool, catalogue: () => catalogue });
  const { reason, messages } = await new ActiveRun(parts, { conversation }).finished;
  expect(reason).toBe("answered");
  expect(messages.map(({ role }) => role)).toEqual(["user", "user", "user", "assistant", "tool", "assistant"]);
  expect(messages.map((message) => JSON.stringify(message))).toEqual([
    expect.stringContaining("Buy milk."),
    expect.stringContaining("Sum up my notes."),
    expect.stringContaining("Buy bread."),
    expect.stringContaining("tool-call"),
    expect.stringContaining("Buy bread."),
    expect.stringContaining("Done."),
  ]);
  texts.set("1", "Buy milk.");
  await conversation.close();
  await client.close();
});
