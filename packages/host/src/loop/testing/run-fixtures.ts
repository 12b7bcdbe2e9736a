import type { JsonObject } from "mcparley";
import type { CallToolResult } from "mcparley/client";
import { type FakeClock, fakeClock } from "mcparley/testing";
import type { CallTool, ToolCallRequest } from "../../calls/tool-call.ts";
import type { ToolOutcome } from "../../conversation/messages.ts";
import type { Catalogue, CataloguePrompt, CatalogueTemplate, CatalogueTool } from "../../catalogue/catalogue.ts";
import type { ModelFinish, ModelPart, ModelRequest } from "../../model/model-request.ts";
import { ResultStore } from "../../conversation/server-text.ts";
import { mapTexts } from "../../values/map-texts.ts";
import type { Run, RunEvent } from "../run-events.ts";
import type { RunParts } from "../run.ts";

/** Returns a tool of the server "notes" for tests. */
export function testTool(name: string, server = "notes"): CatalogueTool {
  const inputSchema = { type: "object", properties: { id: { type: "string" } } };
  const description = `Tool ${name} of ${server}.`;
  return { name, server, description, inputSchema, tool: { name: name.toUpperCase(), description, inputSchema } };
}

/** Returns a catalogue for tests. */
export function testCatalogue(
  tools: readonly CatalogueTool[],
  { prompts = [], templates = [] }: { prompts?: CataloguePrompt[]; templates?: CatalogueTemplate[] } = {},
): Catalogue {
  return {
    tools,
    prompts,
    resources: [],
    templates,
    tool: (name) => tools.find((tool) => tool.name === name),
    prompt: (name) => prompts.find((prompt) => prompt.name === name),
  };
}

/** A step of a scripted model: its parts, or a function that yields them. */
export type Step = readonly ModelPart[] | ((request: ModelRequest) => AsyncIterable<ModelPart>);

/** A model that answers each request with the next step, and keeps the requests. */
export interface ScriptedStream {
  readonly requests: readonly ModelRequest[];
  readonly stream: (request: ModelRequest) => AsyncIterable<ModelPart>;
}

export function scriptedStream(steps: readonly Step[]): ScriptedStream {
  const requests: ModelRequest[] = [];
  return {
    requests,
    async *stream(request: ModelRequest) {
      // The array of messages grows during a run.
      requests.push({ ...request, messages: [...request.messages] });
      const step = steps[requests.length - 1];
      if (!step) throw new Error(`The script has no step ${requests.length}.`);
      if (typeof step === "function") yield* step(request);
      else yield* step;
    },
  };
}

export function text(value: string): ModelPart {
  return { type: "text", text: value };
}

export function call(name: string, args: JsonObject | string = {}, callId: string = name): ModelPart {
  return { type: "tool-call", callId, name, input: typeof args === "string" ? args : JSON.stringify(args) };
}

export function finish(reason: ModelFinish = "stop", inputTokens = 10, outputTokens = 5): ModelPart {
  return { type: "finish", reason, usage: { inputTokens, outputTokens } };
}

/** The last step of most scripts. */
export const answerStep: readonly ModelPart[] = [text("Done."), finish()];

/** Returns the outcome of a call whose result is a text. */
export function textOutcome(value: string, isError = false): ToolOutcome {
  const result: CallToolResult = { content: [{ type: "text", text: value }], isError };
  return { status: "result", result };
}

const hide = (value: string): string => value.replaceAll("hunter2", "[secret]");
const hideInError = (value: object): object => (value instanceof Error ? new Error(hide(value.message)) : value);

export interface TestParts extends RunParts {
  readonly clock: FakeClock;
  readonly calls: readonly ToolCallRequest[];
}

const echo: CallTool = (request) => Promise.resolve(textOutcome(JSON.stringify(request.arguments)));

/** Returns the parts of a run. By default each tool returns its arguments as text. */
export function testParts(
  stream: RunParts["stream"],
  overrides: Partial<Omit<RunParts, "clock" | "stream">> = {},
): TestParts {
  const calls: ToolCallRequest[] = [];
  const catalogue = testCatalogue([testTool("read"), testTool("write")]);
  const callTool = overrides.callTool ?? echo;
  return {
    model: "test/model",
    stream,
    catalogue: () => catalogue,
    readArguments(json) {
      try {
        return { arguments: JSON.parse(json) as JsonObject };
      } catch {
        return { problem: "The arguments are not valid JSON." };
      }
    },
    instructions: () => [],
    results: new ResultStore(),
    secrets: {
      withoutSecrets: (value) => mapTexts(value, { text: hide, instance: hideInError }),
      messageWithoutSecrets: (message) => mapTexts(message, { text: hide }),
      lengthBeforeStart: ({ length }) => length,
    },
    ...overrides,
    callTool(request) {
      calls.push(request);
      return callTool(request);
    },
    clock: fakeClock(),
    calls,
  };
}

/** Returns all events of a run. */
export async function eventsOf(run: Run): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

/** Returns a promise that rejects when the signal is aborted, as a call of a server does. */
export function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = (): void => reject(new Error("aborted"));
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
  });
}

export const question = [{ role: "user", content: "What do my notes say?" }] as const;
