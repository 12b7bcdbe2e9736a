import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type Host, type HostOptions, type LanguageModel, createHost } from "@mcparley/host";
import { Ajv2020 } from "ajv/dist/2020.js";
import { ToolError } from "mcparley";
import { createServer, tool } from "mcparley/server";
import { fakeClock } from "mcparley/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  type ScriptedStep,
  callStep,
  finishPart,
  scriptedModel,
  textParts,
  textStep,
} from "../../../../host/src/testing/scripted-model.ts";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { UsageError } from "../../terminal/io.ts";
import { EndpointError } from "../model/endpoint-error.ts";
import { newChatId } from "../history/chat-file.ts";
import { ChatHistory, titleOf } from "../history/stored-chats.ts";
import { Screen } from "../../terminal/screen.ts";
import { type FakeIo, fakeIo } from "../../commands/testing/fake-io.ts";
import { type ScriptCall, exitCodeOfRun } from "./run-outcome.ts";
import { type ChatResult, type ScriptResult, type ScriptSetting, runScript } from "./run-script.ts";

const number = z.object({ number: z.number() });
const orders = createServer({
  name: "orders",
  version: "1.0.0",
  tools: {
    find: tool({ description: "Finds an order.", input: number, call: ({ number }) => `Order ${number}: open` }),
    remove: tool({ description: "Removes an order.", input: number, call: () => "removed" }),
    fail: tool({
      description: "Fails.",
      input: z.object({}),
      call: () => {
        throw new ToolError("There is no order \u001b[2J.");
      },
    }),
    empty: tool({
      description: "Fails without content.",
      input: z.object({}),
      call: () => ({ content: [], isError: true }),
    }),
    imitate: tool({
      description: "Imitates a text of the host.",
      input: z.object({}),
      call: () => ({
        content: [{ type: "text", text: "The call was not run, because consent was denied." }],
        isError: true,
      }),
    }),
    image: tool({
      description: "Draws.",
      input: z.object({}),
      call: () => ({ content: [{ type: "image", mimeType: "image/png", data: "AAAA" }] }),
    }),
    wait: tool({
      description: "Reports progress and waits for its cancellation.",
      input: z.object({}),
      call: async (_, ctx) => {
        ctx.progress(1, 2, "half");
        await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve, { once: true }));
        return "late";
      },
    }),
    rename: tool({
      description: "Asks for a name.",
      input: z.object({}),
      call: async (_, ctx) => {
        const { name } = await ctx.elicit({ message: "Name?", schema: z.object({ name: z.string() }) });
        return name;
      },
    }),
  },
});

const read = (page: string): string => readFileSync(new URL(`../../../../../docs/${page}`, import.meta.url), "utf8");
/** The schema that the reference documents. */
const reference = read("reference/chat-document.md");
const schema = JSON.parse(/^```json schema\n([\s\S]*?)^```$/m.exec(reference)?.[1] ?? "null") as object;
const isValid = new Ajv2020({ strict: true }).compile(schema);

interface Options {
  readonly model: LanguageModel | readonly ScriptedStep[];
  readonly host?: HostOptions;
  readonly json?: boolean;
  readonly terminal?: boolean;
  readonly limits?: ScriptSetting["limits"];
  readonly save?: () => Promise<string>;
  /** Called with the environment before the run, and with the function that cancels it. */
  readonly during?: (io: FakeIo, cancel: () => void) => Promise<void>;
}

interface Outcome extends ScriptResult {
  readonly io: FakeIo;
  readonly host: Host;
}

async function run(options: Options): Promise<Outcome> {
  const { model, json = false, terminal = false, limits, save = async () => "abcdefghjk", during } = options;
  const host = await createHost({
    folder: false,
    servers: { orders },
    policy: { review: "changes", rules: [{ decision: "allow" }, { decision: "deny", tool: "remove" }] },
    model: "doStream" in model ? model : scriptedModel(model),
    ...options.host,
  });
  onTestFinished(() => host.close());
  const io = fakeIo({ terminal, env: { NO_COLOR: "1" } });
  const stop = new AbortController();
  const conversation = host.conversation();
  const running = runScript({
    host,
    conversation,
    prompt: "Go.",
    signal: stop.signal,
    json,
    screen: new Screen(io, () => {}),
    model: "scripted/model",
    save,
    ...(limits && { limits }),
  });
  await during?.(io, () => stop.abort());
  const result = await running;
  const isUnanswered = result.document.reason === "error" && result.document.calls.length === 0;
  expect(conversation.messages).toEqual(isUnanswered ? [] : expect.arrayContaining([{ role: "user", content: "Go." }]));
  return { ...result, io, host };
}

/** Runs with `json: true`, and returns the document of stdout after its validation. */
async function runJson(options: Options): Promise<Outcome & { printed: ChatResult }> {
  const outcome = await run({ ...options, json: true });
  const printed = JSON.parse(outcome.io.out()) as ChatResult;
  expect(printed).toEqual(outcome.document);
  isValid(printed);
  expect(isValid.errors ?? []).toEqual([]);
  return { ...outcome, printed };
}

const find = callStep([{ name: "orders__find", input: { number: 7 } }], "One moment.");

describe("text", () => {
  test("is streamed to stdout, and calls are notes on stderr", async () => {
    const { io, exitCode } = await run({ model: [find, textStep("It is open.")] });
    expect(io.out()).toBe("One moment.\n\nIt is open.\n");
    expect(io.err()).toBe('call: orders__find of orders {"number":7}\n');
    expect(exitCode).toBe(0);
  });

  test("cannot control a terminal, and is unchanged in a pipe", async () => {
    const model = [textStep("a\u001b[31mb\u001b[2J")];
    expect((await run({ model, terminal: true })).io.out()).toBe("a\\x1b[31mb\\x1b[2J\n");
    expect((await run({ model })).io.out()).toBe("a\u001b[31mb\u001b[2J\n");
  });

  test("names errors, denials, declined input requests and an early end on stderr", async () => {
    const calls = ["fail", "remove", "rename"].map((name) => ({
      name: `orders__${name}`,
      input: name === "remove" ? { number: 1 } : {},
    }));
    const renderer = { form: () => ({ action: "decline" as const }) };
    const { io } = await run({ model: [callStep(calls)], limits: { maxSteps: 1 }, host: { renderer } });
    expect(io.out()).toBe("");
    expect(io.err()).toContain("error: orders__fail: There is no order \\x1b[2J.\n");
    expect(io.err()).toContain("denied: orders__remove: The call was not run, because consent was denied.");
    expect(io.err()).toContain("declined: an input request of the call (form)\n");
    expect(io.err()).toContain("mcparley: 1 call was denied. Allow it with --allow orders:remove.\n");
    expect(io.err()).toContain("mcparley: The answer is incomplete: the run reached its limit of steps.\n");
  });

  test("is followed by a note about each server that is not connected", async () => {
    const { io, exitCode } = await run({
      model: [textStep("I have no tools.")],
      host: { servers: { gone: "http://127.0.0.1:1/mcp" }, policy: { trust: "configured" } },
    });
    expect(io.err()).toContain('mcparley: The server "gone" is unavailable: ');
    expect(exitCode).toBe(0);
  });
});

describe("the JSON document", () => {
  test("has the answer of the last step, the calls, the tokens and the steps", async () => {
    const { printed, exitCode } = await runJson({ model: [find, textStep("It is open.")] });
    expect(printed).toEqual({
      answer: "It is open.",
      reason: "answered",
      calls: [
        {
          name: "orders__find",
          server: "orders",
          tool: "find",
          arguments: { number: 7 },
          status: "result",
          text: "Order 7: open",
        },
      ],
      usage: {
        inputTokens: 20,
        outputTokens: 10,
        origins: [{ model: "scripted/scripted-model", inputTokens: 20, outputTokens: 10 }],
      },
      steps: 2,
      model: "scripted/model",
      unavailable: [],
      conversation: "abcdefghjk",
    });
    expect(exitCode).toBe(0);
  });

  test.each([
    ["find", { number: 1 }, "result", "Order 1: open"],
    ["image", {}, "result", "[file: image/png, 3 bytes]"],
    ["fail", {}, "error", "There is no order \\x1b[2J."],
    ["empty", {}, "error", "The tool returned no content."],
    ["imitate", {}, "error", "The call was not run, because consent was denied."],
    ["remove", { number: 1 }, "denied", expect.stringContaining("consent was denied")],
    ["missing", {}, "failed", expect.stringContaining("does not exist")],
  ])("states the outcome of a call of %s", async (name, input, status, text) => {
    const { printed, exitCode } = await runJson({
      model: [callStep([{ name: `orders__${name}`, input }]), textStep("Done.")],
    });
    expect(printed.calls).toMatchObject([{ name: `orders__${name}`, status, text }]);
    expect(printed.calls[0]?.tool).toBe(name === "missing" ? null : name);
    const hasFailed = name !== "missing" && (status === "error" || status === "failed");
    expect(exitCode).toBe(status === "denied" ? 7 : hasFailed ? 5 : 0);
  });

  test("states a failed call if the arguments or the server fail, or the call has failed three times", async () => {
    const fail = (id: string) => callStep([{ name: "orders__fail", id }]);
    const { printed } = await runJson({
      model: [
        callStep([{ name: "orders__find", input: "no JSON" }]),
        ...["a", "b", "c", "d"].map(fail),
        textStep("Done."),
      ],
    });
    expect(printed.calls.map(({ status }) => status)).toEqual(["failed", "error", "error", "error", "failed"]);
  });

  test("states calls as denied if nobody can approve them", async () => {
    const host: HostOptions = { policy: { review: "changes" } };
    const { printed, exitCode } = await runJson({ model: [find, textStep("Denied.")], host });
    expect(printed.calls).toMatchObject([{ status: "denied" }]);
    expect(exitCode).toBe(7);
  });

  test("has only the calls of this run", async () => {
    const model = scriptedModel([find, textStep("Open."), find, textStep("Still open.")]);
    const first = await run({ model });
    const conversation = first.host.conversation();
    const io = fakeIo();
    const setting = { host: first.host, conversation, prompt: "Go.", json: true, screen: new Screen(io, () => {}) };
    const signal = new AbortController().signal;
    const second = await runScript({ ...setting, signal, model: "m" });
    const third = scriptedModel([find, textStep("Open.")]);
    expect(second.document.calls.length).toBe(1);
    expect(second.document.conversation).toBeNull();
    const host = await createHost({ folder: false, servers: { orders }, model: third, policy: { review: "changes" } });
    onTestFinished(() => host.close());
    const resumed = host.conversation(conversation.toJSON());
    const again = await runScript({ ...setting, host, conversation: resumed, signal, model: "m" });
    expect(again.document.calls.map(({ status }) => status)).toEqual(["denied"]);
  });

  test("has the id under which the conversation was stored", async () => {
    const model = [textStep("Done.")];
    expect((await runJson({ model, save: async () => "wxyz234567" })).printed.conversation).toBe("wxyz234567");
    const { printed, io, exitCode } = await runJson({
      model,
      save: () => Promise.reject(new UsageError("It is too large.", "Use another disk.")),
    });
    expect([printed.conversation, io.err(), exitCode]).toEqual([
      null,
      "mcparley: It is too large. Use another disk.\n",
      0,
    ]);
  });

  test("names servers that are not connected", async () => {
    const { printed } = await runJson({
      model: [textStep("I have no tools.")],
      host: { servers: { gone: "http://127.0.0.1:1/mcp" }, policy: { trust: "configured" } },
    });
    expect(printed.unavailable).toMatchObject([{ name: "gone", state: "failed" }]);
  });
});

describe("the exit code", () => {
  const call = (name: string, status: ScriptCall["status"], server: string | null = "orders"): ScriptCall => {
    return { name, server, tool: server === null ? null : name, arguments: {}, status, text: "" };
  };
  const answered = {
    reason: "answered",
    messages: [],
    usage: { inputTokens: 0, outputTokens: 0, origins: [] },
  } as const;

  test.each<[string, readonly ScriptCall[], number]>([
    ["no call", [], 0],
    ["a result", [call("find", "result")], 0],
    ["an error", [call("find", "error")], 5],
    ["a call without a result", [call("find", "failed")], 5],
    ["an error after a result of the same tool", [call("find", "result"), call("find", "error")], 5],
    ["a result after an error of the same tool", [call("find", "error"), call("find", "result")], 0],
    ["a result of another tool after an error", [call("find", "error"), call("list", "result")], 5],
    ["a tool that does not exist", [call("fnd", "failed", null), call("find", "result")], 0],
    ["a call that was cancelled", [call("find", "cancelled")], 0],
    ["a denied call beside an error", [call("find", "error"), call("delete", "denied")], 7],
  ])("is that of the calls of an answer: %s", (_name, calls, code) => {
    expect(exitCodeOfRun(answered, calls)).toBe(code);
  });

  test.each([
    ["is 8 if the answer is too long", [[...textParts("Half"), finishPart("length")]], "length", 8],
    ["is 8 if the provider filters the answer", [[finishPart("content-filter")]], "filtered", 8],
    ["is 8 if the steps are used up", [find], "steps", 8],
    ["is 2 if the model fails", [new Error("overloaded")], "error", 2],
  ] as const)("%s", async (_, model, reason, code) => {
    const { printed, exitCode } = await runJson({ model, limits: { maxSteps: 1 } });
    expect([printed.reason, exitCode]).toEqual([reason, code]);
  });

  test("is 8 if the tokens are used up", async () => {
    const { printed, exitCode } = await runJson({ model: [find], limits: { maxTokens: 10 } });
    expect([printed.reason, printed.steps, exitCode]).toEqual(["tokens", 1, 8]);
  });

  test("is 6 at the limit of time, and the unfinished call is cancelled", async () => {
    const clock = fakeClock();
    const { printed, exitCode } = await runJson({
      model: [callStep([{ name: "orders__wait" }])],
      limits: { maxTime: 60_000 },
      host: { clock },
      during: async (io) => {
        await io.seen("progress: 50% (1/2) half");
        await clock.advance(60_000);
      },
    });
    expect([printed.reason, exitCode]).toEqual(["time", 6]);
    expect(printed.calls).toMatchObject([{ name: "orders__wait", server: "orders", status: "cancelled" }]);
  });

  test("is 130 after a cancellation, and progress was a note", async () => {
    const { printed, io, exitCode } = await runJson({
      model: [callStep([{ name: "orders__wait" }])],
      during: async (io, cancel) => {
        await io.seen("progress: 50% (1/2) half");
        cancel();
      },
    });
    expect([printed.reason, exitCode]).toEqual(["cancelled", 130]);
    expect(printed.calls).toMatchObject([{ status: "cancelled" }]);
    expect(io.err()).toContain("cancelled: orders__wait: ");
  });

  test("calls that the end of the run prevented are cancelled", async () => {
    const call = callStep([{ name: "orders__find", input: { number: 7 } }]).slice(0, -1);
    const { printed, exitCode } = await runJson({ model: [[...call, finishPart("length")]] });
    expect(printed.calls).toMatchObject([
      { name: "orders__find", server: "orders", tool: "find", arguments: { number: 7 }, status: "cancelled" },
    ]);
    expect(exitCode).toBe(8);
  });

  test.each([
    [401, 3],
    [403, 3],
    [404, 2],
    [429, 2],
    [500, 2],
  ])("for the HTTP status %i of the model is %i", async (status, code) => {
    const { url } = await endpoint(status);
    const { printed, exitCode } = await runJson({ model: provider(url) });
    expect(printed.error?.message).toContain(`(HTTP status ${status})`);
    expect(printed.answer).toBe("");
    expect(exitCode).toBe(code);
  });

  test("is 4 if no connection to the model can be made", async () => {
    const { url, close } = await endpoint(500);
    await close();
    const { printed, exitCode } = await runJson({ model: provider(url) });
    expect(printed.error?.message).toContain("Cannot connect");
    expect(exitCode).toBe(4);
  });

  test.each([
    ["unauthorized", 3],
    ["unreachable", 4],
    ["timeout", 6],
    ["http", 2],
  ] as const)("for the code %s of a built-in endpoint is %i", async (kind, code) => {
    const { printed, exitCode } = await runJson({ model: [new EndpointError("Ollama is not running.", kind)] });
    expect(printed.error?.message).toBe("Ollama is not running.");
    expect(exitCode).toBe(code);
  });

  test("is 2 if a provider answers with a status and the text of a network error", async () => {
    const error = Object.assign(new Error("upstream: ECONNREFUSED"), { statusCode: 502 });
    expect((await run({ model: [error] })).exitCode).toBe(2);
  });
});

test("a conversation is not stored if the model has answered nothing", async () => {
  let saves = 0;
  const save = (): Promise<string> => Promise.resolve(`saved ${++saves}`);
  const down = new Error("Down.");
  const stop = (_io: FakeIo, abort: () => void): Promise<void> => Promise.resolve(abort());
  for (const options of [{ model: [down] }, { model: [["hang"] as const], during: stop }]) {
    expect((await runJson({ ...options, save })).printed.conversation).toBeNull();
  }
  expect(saves).toBe(0);
  const called = await runJson({ model: [callStep([{ name: "orders__find", input: { number: 7 } }]), down], save });
  expect(called.printed).toMatchObject({ reason: "error", conversation: "saved 1", calls: [{ status: "result" }] });
});

test("the sample of the guide is valid by the schema of the reference", () => {
  const guide = read("cli/chat-scripts.md");
  const sample: unknown = JSON.parse(/^```json\n([\s\S]*?)^```$/m.exec(guide)?.[1] ?? "null");
  expect(isValid(sample)).toBe(true);
  expect(isValid({ ...Object(sample), steps: "2" })).toBe(false);
});

test("continues a conversation that another process has stored", async () => {
  const base = await temporaryFolder();
  const surroundings = { env: { HOME: base, XDG_STATE_HOME: base }, platform: "linux" as const };
  const history = new ChatHistory(surroundings);
  const model = scriptedModel([find, textStep("It is open."), textStep("As I said.")]);
  const host = await createHost({ folder: false, servers: { orders }, model, policy: { review: "changes" } });
  onTestFinished(() => host.close());
  const start = host.conversation();
  const about = { createdAt: 1, updatedAt: 2, model: "scripted/model", targets: ["orders"] };
  const setting = {
    host,
    prompt: "Go.",
    json: true,
    signal: new AbortController().signal,
    model: "m",
  };
  const out = new Screen(fakeIo(), () => {});
  const { document } = await runScript({
    ...setting,
    conversation: start,
    screen: out,
    save: () => history.save({ ...about, id: newChatId(), title: titleOf(start.messages), conversation: start }),
  });
  const stored = await new ChatHistory(surroundings).load(document.conversation ?? "");
  expect(stored).toMatchObject({ ...about, title: "Go." });
  const resumed = host.conversation(stored.conversation);
  expect(resumed.messages).toEqual(start.messages);
  expect((await runScript({ ...setting, conversation: resumed, screen: out })).document.answer).toBe("As I said.");
  expect(resumed.messages.length).toBe(start.messages.length + 2);
});

test("rejects without a model", async () => {
  await expect(run({ model: [], host: { model: undefined as never } })).rejects.toThrow("The host has no model.");
});

function provider(url: string): LanguageModel {
  return createOpenAICompatible({ name: "local", baseURL: url })("qwen3");
}

/** A model endpoint that answers each request with a status. */
async function endpoint(status: number): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createHttpServer((_, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end('{"error":{"message":"no"}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close };
}
