import { createServer, resource, tool } from "mcparley/server";
import { expect, test } from "vitest";
import { ActiveCalls } from "../activity/active-calls.ts";
import { createCall } from "../calls/call.ts";
import type { Renderer, SampledRequest } from "../renderer/renderer.ts";
import { knownSecrets } from "../secrets/known-secrets.ts";
import { scriptedModel, textStep } from "../testing/scripted-model.ts";
import { toAiSdkTools } from "./ai-sdk-tools.ts";
import { createHost } from "./create-host.ts";
import type { HostOptions } from "./host.ts";

const secret = "/home/me/notes";

const server = createServer({
  name: "s",
  version: "1",
  tools: {
    ask: tool({
      description: "Reads later-secret.",
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
  secrets.add(secret);
  const called = { calls: new ActiveCalls(), timeout: undefined, use: () => Promise.reject(new Error("mismatch")) };
  const call = createCall({ serverOf: () => called, withoutSecrets: secrets.withoutSecrets });
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
  await host.add("later", { target: { command: "x", env: { API_TOKEN: "later-secret" } }, disabled: true });
  expect(toAiSdkTools(host).s__ask?.description).toContain("Reads [redacted].");
});

test("a server of the host has only its public members, which are its own", async () => {
  await using host = await hostWith();
  const shown = host.servers.get("s")!;
  for (const name of ["use", "watch", "close", "ready", "calls"]) expect(name in shown).toBe(false);
  expect({ ...shown }).toMatchObject({ name: "s", state: "ready", info: { revisionKind: "modern" } });
  expect(JSON.parse(JSON.stringify(shown))).toMatchObject({ name: "s", state: "ready", lists: { isCached: false } });
});
