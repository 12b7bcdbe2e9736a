import { createServer, prompt, resource, tool } from "mcparley/server";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { ActiveCalls } from "../activity/active-calls.ts";
import { createCall } from "../calls/call.ts";
import type { Renderer, SampledRequest } from "../renderer/renderer.ts";
import { knownSecrets } from "../secrets/known-secrets.ts";
import { callStep, scriptedModel, textStep } from "../testing/scripted-model.ts";
import { toAiSdkTools } from "./ai-sdk-tools.ts";
import { createHost } from "./create-host.ts";
import type { HostOptions } from "./host.ts";

const secret = "/home/me/4f9a0b77c1d2e3f0";

const server = createServer({
  name: "s",
  version: "1",
  tools: {
    ask: tool({
      description: "Reads 77c1d2e3f04f9a0b.",
      async call(_, ctx) {
        const message = { role: "user", content: { type: "text", text: "t" } } as const;
        return JSON.stringify(await ctx.sample({ messages: [message], maxTokens: 9 }));
      },
    }),
  },
  resources: { note: resource(`note:${secret}/a`, { read: () => "body" }) },
});

/** Returns a host that knows a secret, and has read the lists of its server. */
async function hostWith(options: HostOptions = {}) {
  const other = { target: { url: "http://127.0.0.1:9/", headers: { "x-folder": secret } }, disabled: true };
  const host = await createHost({
    folder: false,
    servers: { s: server, other },
    policy: { trust: "configured", review: "changes", rules: [{ decision: "ask" }] },
    ...options,
  });
  await host.ready();
  return host;
}

test("the user sees the answer of the model as the server receives it", async () => {
  const asked: SampledRequest[] = [];
  const renderer: Renderer = {
    approve: () => ({ action: "allow" }),
    sample: () => ({ action: "allow" }),
    sampled(request) {
      asked.push(request);
      return { action: "allow" };
    },
  };
  const model = scriptedModel([textStep(`It is ${secret}.`)]);
  await using host = await hostWith({ renderer, model });
  await host.callTool("s__ask", {});
  expect(asked[0]?.result.content).toMatchObject({ text: `It is ${secret}.` });
});

test("the outcome of a failed call has no secret", async () => {
  const secrets = knownSecrets();
  secrets.of("s").add(secret);
  const use = () => Promise.reject(new Error("mismatch"));
  const called = { calls: new ActiveCalls(), timeout: undefined, secrets: secrets.of("s"), use };
  const { userTextWithoutSecrets } = secrets;
  const call = createCall({ serverOf: () => called, userTextWithoutSecrets });
  const outcome = await call({
    server: "s",
    method: "tools/call",
    name: "sum",
    send: () => Promise.resolve({}),
    outcomeOfError: ({ message }) => ({ message, editedArguments: { a: secret } }),
  });
  expect(outcome).toEqual({ message: "mismatch", editedArguments: { a: "[redacted]" } });
});

test("a method of the renderer that is set after the host was made is used", async () => {
  const renderer: Renderer = {};
  await using host = await hostWith({ renderer });
  renderer.approve = () => ({ action: "deny", reason: "later" });
  expect(await host.callTool("s__ask", {})).toMatchObject({
    status: "denied",
    message: expect.stringContaining("later"),
  });
});

test("a restored conversation has the URI of its attachment, also if the URI has the text of a secret", async () => {
  await using host = await hostWith();
  const conversation = host.conversation();
  const name = { server: "s", uri: `note:${secret}/a` };
  await conversation.attach(name);
  const restored = host.conversation(JSON.parse(JSON.stringify(conversation)));
  await restored.refresh();
  expect(restored.attachments).toMatchObject([{ ...name, isStale: false, error: undefined }]);
});

test("the tools for the package ai have no secret that became known after the lists", async () => {
  await using host = await hostWith();
  await host.add("later", { target: { command: "x", env: { API_TOKEN: "77c1d2e3f04f9a0b" } }, disabled: true });
  expect(toAiSdkTools(host).s__ask?.description).toContain("Reads [redacted].");
});

test("a server of the host has only its public members, which are its own", async () => {
  await using host = await hostWith();
  const shown = host.servers.get("s")!;
  for (const name of ["use", "watch", "close", "ready", "calls"]) expect(name in shown).toBe(false);
  expect({ ...shown }).toMatchObject({ name: "s", state: "ready", info: { revisionKind: "modern" } });
  expect(JSON.parse(JSON.stringify(shown))).toMatchObject({ name: "s", state: "ready", lists: { isCached: false } });
});

/** Returns a server whose answers contain a text in each place. */
function echo(name: string, word: string) {
  return createServer({
    name,
    version: "1",
    instructions: `Use ${word}.`,
    tools: {
      [`show_${word}`]: tool({
        description: `Shows ${word}.`,
        output: z.object({ [word]: z.string() }),
        call: () => ({ [word]: `It is ${word}.` }),
      }),
    },
    prompts: {
      [`ask_${word}`]: prompt({
        description: "p",
        arguments: { topic: { required: false, complete: ["bread"] } },
        get: () => `About ${word}`,
      }),
    },
    resources: {
      note: resource(`note://x/${word}/a`, { read: () => `body ${word}` }),
      page: resource(`page://x/${word}/{id}`, { complete: { id: ["one"] }, read: () => "page" }),
    },
  });
}

/** A server over HTTP that is only used for its secrets. */
const holder = (headers: Record<string, string>) => ({
  target: { url: "http://127.0.0.1:9/", headers },
  disabled: true,
});

test.each(["postgres", "untrusted", "hunter22", "9fceb02d"])(
  "the value %s of the configuration of one server changes nothing of another one",
  async (word) => {
    const model = scriptedModel([callStep([{ name: `a__show_${word}` }]), textStep(`It is ${word}.`)]);
    await using host = await createHost({
      folder: false,
      model,
      servers: { a: echo("a", word), b: holder({ "x-password": word }), c: { ...commandWith(word), disabled: true } },
      policy: { trust: "configured", review: "changes", rules: [{ decision: "allow" }] },
    });
    await host.ready();
    const outcome = await host.callTool(`a__show_${word}`, {});
    expect(outcome).toMatchObject({ result: { structuredContent: { [word]: `It is ${word}.` } } });
    expect(await host.getPrompt(`a:ask_${word}`)).toMatchObject({ messages: [{ content: { text: `About ${word}` } }] });
    const run = host.run({ messages: [{ role: "user", content: "go" }] });
    const events: unknown[] = [];
    for await (const event of run) events.push(event);
    const conversation = host.conversation();
    await conversation.attach({ server: "a", uri: `note://x/${word}/a` });
    for (const value of [events, await run.finished, conversation.toJSON(), host.catalogue, model.requests]) {
      expect(JSON.stringify(value)).toContain(word);
      expect(JSON.stringify(value)).not.toContain("[redacted]");
    }
  },
);

function commandWith(word: string) {
  return { target: { command: "x", args: ["--password", word], env: { PGPASSWORD: word } } };
}

test("a tool, a prompt and a resource whose names have a secret are called by their listed names", async () => {
  const random = "4f9a0b77c1d2e3f0";
  const server = echo("a", random);
  await using host = await createHost({
    folder: false,
    servers: { a: server, b: holder({ "x-password": random }) },
    policy: { trust: "configured", review: "changes", rules: [{ decision: "allow" }] },
  });
  await host.ready();
  const { tools, prompts, resources, templates } = host.catalogue;
  expect(JSON.stringify([tools, prompts, resources, templates])).not.toContain(random);
  expect(await host.callTool(tools[0]?.name ?? "", {})).toMatchObject({ status: "result" });
  expect(await host.getPrompt(prompts[0]?.name ?? "")).toMatchObject({
    messages: [{ content: { text: "About [redacted]" } }],
  });
  const uri = resources[0]?.resource.uri ?? "";
  expect(await host.readResource("a", uri)).toMatchObject({ contents: [{ uri, text: "body [redacted]" }] });
  const conversation = host.conversation();
  await conversation.attach({ server: "a", uri });
  expect(conversation.attachments).toMatchObject([{ uri, error: undefined }]);
  const topic = { name: "topic", value: "b" };
  const ref = { type: "ref/prompt", name: prompts[0]?.prompt.name ?? "" } as const;
  expect(await host.complete("a", { ref, argument: topic })).toMatchObject({ values: ["bread"] });
  const page = { type: "ref/resource", uri: templates[0]?.template.uriTemplate ?? "" } as const;
  const argument = { name: "id", value: "o" };
  expect(await host.complete("a", { ref: page, argument })).toMatchObject({ values: ["one"] });
  const updates: string[] = [];
  await host.watch({ server: "a", uri }, (updated) => updates.push(updated));
  server.resources.updated(`note://x/${random}/a`);
  await vi.waitFor(() => expect(updates).toEqual([uri]));
});
