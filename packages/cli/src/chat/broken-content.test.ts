import { expect, test } from "vitest";
import { modernPeer } from "mcparley/testing";
import { scriptedServer, toolNamed } from "../../../host/src/supervision/testing/scripted-server.ts";
import { callStep, scriptedModel, textStep } from "../../../host/src/testing/scripted-model.ts";
import { hasHalf } from "../../../../tests/support/broken-content.ts";
import { openTestChat } from "./testing/open-test-chat.ts";

const blocks = [
  { type: "text", text: "first \ud83d" },
  { type: "video", uri: "x" },
  { type: "image" },
  null,
  { type: "resource" },
  { type: "text", text: "last" },
];
const noCache = { ttlMs: 0, cacheScope: "private" };
const server = scriptedServer(() =>
  modernPeer({
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
    answers: {
      "tools/list": () => ({ tools: [toolNamed("run")], ...noCache }),
      "prompts/list": () => ({ prompts: [{ name: "plan" }], ...noCache }),
      "resources/list": () => ({ resources: [{ uri: "a://b", name: "b" }], ...noCache }),
      "resources/templates/list": () => ({ resourceTemplates: [], ...noCache }),
      "tools/call": () => ({ content: blocks }),
      "prompts/get": () => ({ messages: [{ role: "user", content: blocks }] }),
      "resources/read": () => ({ contents: [...blocks, { uri: "a://b", text: "last" }], ...noCache }),
    },
  }),
);

test("a chat shows and sends the readable parts of results, prompts and attachments with broken content", async () => {
  const model = scriptedModel([
    callStep([{ name: "s__run" }]),
    textStep("Done."),
    textStep("Again."),
    textStep("Read."),
  ]);
  const chat = await openTestChat({ servers: { s: server }, model, columns: 200, rows: 100 });
  await chat.ready("s");
  await chat.type("Call it.");
  await chat.answer("Call it?", "y");
  await chat.waitForText("Done.");
  const shown = await chat.text();
  expect(shown).toMatch(
    /first \ufffd[^]*\[content of the unknown type "video"\] [^]*\[broken content of the type "image"\][^]*last/,
  );
  await chat.idle();
  await chat.type("/s:plan");
  await chat.waitForText("Again.");
  await chat.idle();
  await chat.type("Read @s:a://b");
  await chat.waitForText("Read.");
  for (const request of model.requests) expect(hasHalf(JSON.stringify(request))).toBe(false);
  const last = JSON.stringify(model.requests.at(-1));
  expect(last.match(/content of the unknown type/g)?.length).toBe(2);
  expect(last).toContain("broken contents of a resource");
  expect(last.match(/last/g)?.length).toBeGreaterThanOrEqual(3);
  expect(await chat.leave()).toBe(0);
});
