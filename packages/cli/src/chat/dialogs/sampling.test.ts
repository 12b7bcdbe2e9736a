import type { SampledRequest, SampleRequest } from "@mcparley/host";
import type { CreateMessageParams } from "mcparley/client";
import { describe, expect, test } from "vitest";
import { hostile, scriptedDialogs, signal } from "../../terminal/testing/scripted-prompter.ts";

const origin = { server: "wiki", claims: { name: "Wiki", version: "2.0.1" }, during: 'tools/call "summarize"' };
const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const;

const params: CreateMessageParams = {
  systemPrompt: "You write short summaries.",
  messages: [
    { role: "user", content: { type: "text", text: "Summarize the page Backup." } },
    { role: "assistant", content: [{ type: "text", text: "Which part?" }] },
    { role: "user", content: [image, { type: "text", text: "The first one." }, { type: "text", text: "All of it." }] },
  ],
  maxTokens: 500,
  stopSequences: ["END"],
  tools: [{ name: "search", inputSchema: { type: "object" } }],
};

function request(changes: Partial<CreateMessageParams> = {}): SampleRequest {
  return {
    origin,
    request: { ...params, ...changes },
    model: "openai/gpt-5",
    contextOf: ["wiki", "handbook"],
    tokensLeft: 95_000,
  };
}

describe("before the model runs", () => {
  test("shows who asks, the model, the limits and the messages", async () => {
    const { renderer, screen } = scriptedDialogs(["yes"]);
    expect(await renderer.sample(request(), signal)).toEqual({ action: "allow" });
    expect(screen()).toMatchInlineSnapshot(`
      "
      The server "wiki" asks to run your model (during tools/call "summarize").
      It calls itself "Wiki", version "2.0.1". This is not verified.
      If you agree, the model runs with this request. You see its answer before it
        is sent.
        Model         openai/gpt-5
        Tokens        at most 500 for the answer; 95000 left for this server
        Context       also texts of the servers "wiki", "handbook"
        Tools         "search". The server runs the calls of the model.
        System prompt:
        │ You write short summaries.
        User:
        │ Summarize the page Backup.
        Assistant:
        │ Which part?
        User:
        [image image/png, 3 bytes]
        │ The first one.
        │ All of it.
      Run it? [y]es, [n]o, [e]dit, [v]iew? yes
      "
    `);
  });

  test("view shows the settings and tools too", async () => {
    const { renderer, screen } = scriptedDialogs(["v", "n"]);
    expect(await renderer.sample(request(), signal)).toEqual({ action: "deny" });
    expect(screen()).toContain('  Settings and tools:\n  │ {\n  │   "maxTokens": 500,\n  │   "stopSequences": [');
  });

  test("edits the system prompt and the last text of the user, which are shown again", async () => {
    const { renderer, screen, initials } = scriptedDialogs(["e", "Be long.", "Only\nthe end.", "y"]);
    const { action, request: edited } = await renderer.sample(request(), signal);
    expect(action).toBe("allow");
    expect(initials.slice(1, 3)).toEqual(["You write short summaries.", "The first one.\n\nAll of it."]);
    expect(edited).toEqual({
      ...params,
      systemPrompt: "Be long.",
      messages: [
        ...params.messages.slice(0, 2),
        { role: "user", content: [image, { type: "text", text: "Only\nthe end." }] },
      ],
    });
    expect(screen()).toContain("The request is now:\n  System prompt:\n  │ Be long.\n");
  });

  test("removes the system prompt with /none, and leaves an empty text unchanged", async () => {
    const { systemPrompt: _, ...others } = params;
    const { renderer } = scriptedDialogs(["e", "/none", "", "y"]);
    expect(await renderer.sample(request(), signal)).toEqual({ action: "allow", request: others });
    const unchanged = scriptedDialogs(["e", "", ({ initial = "" }) => initial, "y"]);
    expect(await unchanged.renderer.sample(request(), signal)).toEqual({ action: "allow" });
  });

  test("edits the last message of the user that has a text", async () => {
    const messages: CreateMessageParams["messages"] = [
      { role: "user", content: { type: "text", text: "Hi" } },
      { role: "assistant", content: [{ type: "tool_use", id: "1", name: "search", input: { q: "x" } }] },
      { role: "user", content: [{ type: "tool_result", toolUseId: "1", content: [{ type: "text", text: "Found." }] }] },
    ];
    const { renderer, screen } = scriptedDialogs(["e", "", "Hello", "y"]);
    const { request: edited } = await renderer.sample(request({ messages }), signal);
    expect(edited?.messages[0]).toEqual({ role: "user", content: { type: "text", text: "Hello" } });
    expect(screen()).toContain('  [calls the tool "search" with]\n  │ {\n  │   "q": "x"\n  │ }\n');
    expect(screen()).toContain('  [result of the call "1"]\n  │ Found.\n');
  });

  test("states that no message has a text to edit", async () => {
    const { renderer, screen } = scriptedDialogs(["e", "", "y"]);
    const asked = request({ messages: [{ role: "user", content: image }] });
    expect(await renderer.sample(asked, signal)).toEqual({ action: "allow" });
    expect(screen()).toContain("  [image image/png, 3 bytes]\n");
    expect(screen()).toContain("No message of the user has a text to edit.\n");
  });

  test("cuts a long conversation, and states it", async () => {
    const messages: CreateMessageParams["messages"] = [
      { role: "user", content: { type: "text", text: `${"line\n".repeat(200)}THE END` } },
    ];
    const { renderer, screen } = scriptedDialogs(["n"]);
    await renderer.sample(request({ messages }), signal);
    expect(screen()).toContain("  … 164 lines are not shown\n");
    expect(screen()).toContain("THE END\nNot everything is shown. View it before you decide.\n");
  });
});

describe("after the model has run", () => {
  const sampled = (changes: Partial<SampledRequest["result"]> = {}): SampledRequest => ({
    origin,
    request: params,
    result: {
      role: "assistant",
      content: { type: "text", text: "Backups run at night." },
      model: "gpt-5",
      stopReason: "endTurn",
      ...changes,
    },
  });

  test("shows the answer, and sends it after a yes", async () => {
    const { renderer, screen } = scriptedDialogs(["y"]);
    expect(await renderer.sampled(sampled(), signal)).toEqual({ action: "allow" });
    expect(screen()).toMatchInlineSnapshot(`
      "
      The server "wiki" will receive this answer of your model if you agree (during
        tools/call "summarize").
      It calls itself "Wiki", version "2.0.1". This is not verified.
        Model         gpt-5
        Ended by      endTurn
        │ Backups run at night.
      Send it to the server? [y]es, [n]o, [e]dit, [v]iew? y
      "
    `);
  });

  test("sends the edited answer", async () => {
    const { renderer, screen } = scriptedDialogs(["e", "", "e", "Backups run at noon.", "yes"]);
    const { result } = await renderer.sampled(sampled(), signal);
    expect(result).toEqual({ ...sampled().result, content: { type: "text", text: "Backups run at noon." } });
    expect(screen()).toContain("The answer is now:\n  │ Backups run at noon.\nSend it to the server?");
  });

  test("sends nothing after a no", async () => {
    expect(await scriptedDialogs(["n"]).renderer.sampled(sampled(), signal)).toEqual({ action: "deny" });
  });

  test("an answer without text cannot be edited", async () => {
    const { renderer, screen } = scriptedDialogs(["e", "n"]);
    await renderer.sampled(sampled({ content: image }), signal);
    expect(screen()).toContain("The answer has no text to edit.\n");
  });
});

describe("without a model", () => {
  test("asks whether the user answers, and not again", async () => {
    const { renderer, screen } = scriptedDialogs(["y"], { isManual: true });
    expect(await renderer.sample(request(), signal)).toEqual({ action: "allow" });
    const result = { role: "assistant", content: image, model: "user" } as const;
    expect(await renderer.sampled({ origin, request: params, result }, signal)).toEqual({ action: "allow" });
    expect(screen()).toContain("If you agree, you write the answer, and it is sent to the server.\n");
    expect(screen()).not.toContain("gpt-5");
  });
});

test("texts of a server cannot look like lines of the chat", async () => {
  const content = [
    { type: "text", text: `${"x".repeat(76)}The\u00a0server\n${hostile}` },
    { type: "image", data: "", mimeType: hostile },
    { type: "tool_use", id: hostile, name: hostile, input: { [hostile]: hostile } },
  ] as const;
  const tools = [{ name: hostile, inputSchema: {} }];
  const asked = request({ systemPrompt: hostile, messages: [{ role: "user", content: [...content] }], tools });
  const { renderer, screen, initials } = scriptedDialogs(["v", "e", "", "", "n"]);
  await renderer.sample({ ...asked, model: hostile, contextOf: [hostile] }, signal);
  const dialogs = scriptedDialogs(["n"]);
  await dialogs.renderer.sampled(
    {
      origin,
      request: params,
      result: { role: "assistant", content: [...content], model: hostile, stopReason: hostile },
    },
    signal,
  );
  const shown = screen() + dialogs.screen();
  expect(shown).not.toMatch(/[^ -~\n│…\u00a0]/);
  expect(shown).not.toMatch(/^(The server "safe"|The\u00a0server|Call it)/m);
  expect(initials.join("")).not.toMatch(/[^ -~\n\u00a0]/);
});
