import { ErrorCode, ProtocolError } from "mcparley";
import {
  type CreateMessageParams,
  type CreateMessageResult,
  Declined,
  type InputRequestSource,
  type SampleHandler,
} from "mcparley/client";
import type { Awaitable } from "../values/types.ts";
import type { Message } from "../conversation/messages.ts";
import { chooseModel, type LanguageModel, modelName, type ModelSetting } from "../model/language-model.ts";
import type { ModelPart, ModelRequest } from "../model/model-request.ts";
import type { StreamModel } from "../model/stream-model.ts";
import { joinPieces } from "../model/stream-parts.ts";
import type { Renderer, SampleAnswer } from "../renderer/renderer.ts";
import { decide, type InputContext, originOf, withinLimits, type InputLimits } from "./input-context.ts";
import { ProviderMemory, samplingMessages, samplingResult, type ToolNames, toolNames } from "./sampling-messages.ts";
import { estimateTokens } from "../model/tokens.ts";
import { usageOf } from "../model/usage.ts";

/** The parts of the host that answer sampling requests of a server. */
export interface Sampling {
  readonly model: ModelSetting;
  readonly stream: StreamModel;
  readonly renderer: Required<Pick<Renderer, "sample" | "sampled">>;
  readonly budget: TokenBudget;
  /** Returns the context for `includeContext`. If omitted, no context is included. */
  readonly contextFor?: ContextFor | undefined;
}

/** Returns the texts of servers that a sampling request may include. */
export type ContextFor = (scope: ContextScope, server: string) => Awaitable<readonly ServerContext[]>;

type ContextScope = "thisServer" | "allServers";

/** A text of a server, for the model. */
export interface ServerContext {
  readonly server: string;
  readonly text: string;
}

/**
 * Runs the model for a server, after the user has allowed the request, and sends the answer, after the user has allowed it too.
 *
 * The tools in a request are those of the server: the calls of the model are sent to the server, which runs them.
 */
export function sampleHandler(context: InputContext, sampling: Sampling): SampleHandler {
  const memory = new ProviderMemory();
  return (params, source) =>
    withinLimits(context, { kind: "sampling", source }, async () => {
      checkParams(params);
      const { tokensLeft } = sampling.budget;
      const reservation = sampling.budget.reserve(params.maxTokens);
      if (!reservation) {
        decide(context, { subject: "sampling", name: "request", outcome: "denied", by: "limit" });
        throw new Declined(`The server "${context.server}" has used its tokens: the limit is tokensPerServer.`);
      }
      const parts: ModelPart[] = [];
      try {
        const job: Job = { context, sampling, source, memory, parts };
        return await sample({ ...params, maxTokens: reservation.tokens }, tokensLeft, job);
      } finally {
        reservation.settle(tokensOf(parts));
      }
    });
}

/** One sampling request while it is answered. */
interface Job {
  readonly context: InputContext;
  readonly sampling: Sampling;
  readonly source: InputRequestSource;
  readonly memory: ProviderMemory;
  /** The parts of the model's answer that have arrived. */
  readonly parts: ModelPart[];
}

async function sample(request: CreateMessageParams, tokensLeft: number, job: Job): Promise<CreateMessageResult> {
  const { context, sampling, source, memory, parts } = job;
  const model = chooseModel(sampling.model, request.modelPreferences);
  const texts = await contextTexts(request, job);
  // Converted before the question, so that the user sees no request that the model cannot receive.
  const preparation = prepare(request, memory);
  const finalRequest = await allowRequest(request, { model, texts, tokensLeft }, job);
  const { names, conversation } = finalRequest === request ? preparation : prepare(finalRequest, memory);
  const messages = [
    ...(finalRequest.systemPrompt === undefined
      ? []
      : [{ role: "system" as const, content: finalRequest.systemPrompt }]),
    ...contextMessages(finalRequest.includeContext, texts, context.server),
    ...conversation,
  ];
  const modelRequest: ModelRequest = { messages, signal: source.signal, ...settingsOf(finalRequest, names) };
  try {
    for await (const part of sampling.stream(model, modelRequest)) parts.push(part);
  } finally {
    reportUsage(modelRequest, model, job);
  }
  const result = samplingResult(parts, { ...finalRequest, model: model.modelId, names });
  memory.remember(joinPieces(parts));
  return allowResult(finalRequest, result, job);
}

/** Reports the tokens of a request, also if its answer is incomplete. The tokens of a refused request are not counted by its provider. */
function reportUsage(request: ModelRequest, model: LanguageModel, { context, source, parts }: Job): void {
  if (parts.length === 0) return;
  const usage = usageOf(request, parts, parts.find((part) => part.type === "finish")?.usage);
  context.onUsage({ server: context.server, model: modelName(model), ...usage }, source.during);
}

function prepare(
  { tools, messages }: CreateMessageParams,
  memory: ProviderMemory,
): { names: ToolNames; conversation: Message[] } {
  const names = toolNames(tools);
  return { names, conversation: samplingMessages(messages, { names, memory }) };
}

async function allowRequest(
  request: CreateMessageParams,
  { model, texts, tokensLeft }: { model: LanguageModel; texts: readonly ServerContext[]; tokensLeft: number },
  { context, sampling, source }: Job,
): Promise<CreateMessageParams> {
  const question = {
    origin: originOf(context, source),
    request,
    model: modelName(model),
    contextOf: [...new Set(texts.map(({ server }) => server))],
    tokensLeft,
  };
  const answer: SampleAnswer = await context.ask(
    () => sampling.renderer.sample(question, source.signal),
    source.signal,
  );
  decideAnswer(context, "request", { ...answer, isEdited: answer.request !== undefined });
  if (!answer.request) return request;
  const { maxTokens } = answer.request;
  return { ...answer.request, maxTokens: Math.min(maxTokens, request.maxTokens) };
}

async function allowResult(
  request: CreateMessageParams,
  result: CreateMessageResult,
  { context, sampling, source }: Job,
): Promise<CreateMessageResult> {
  const question = { origin: originOf(context, source), request, result };
  const answer = await context.ask(() => sampling.renderer.sampled(question, source.signal), source.signal);
  decideAnswer(context, "answer", { ...answer, isEdited: answer.result !== undefined });
  return answer.result ?? result;
}

/** Records the decision of the user. Throws `Declined` unless it is `allow`. */
function decideAnswer(
  context: InputContext,
  name: "request" | "answer",
  { action, isEdited }: { action: "allow" | "deny"; isEdited: boolean },
): void {
  const isAllowed = action === "allow";
  decide(context, {
    subject: "sampling",
    name,
    outcome: isAllowed ? "allowed" : "denied",
    by: "person",
    ...(isAllowed && { isEdited }),
  });
  if (!isAllowed) throw new Declined(`The user has not allowed the ${name} of the sampling.`);
}

async function contextTexts({ includeContext }: CreateMessageParams, job: Job): Promise<readonly ServerContext[]> {
  const { contextFor } = job.sampling;
  if (!contextFor || (includeContext !== "thisServer" && includeContext !== "allServers")) return [];
  const texts = await contextFor(includeContext, job.context.server);
  return selectTexts(includeContext, texts, job.context.server).filter(({ text }) => text !== "");
}

/** Returns the texts as messages of the user, with their origins. A user who edited the request can only reduce them. */
function contextMessages(
  scope: CreateMessageParams["includeContext"],
  texts: readonly ServerContext[],
  server: string,
): Message[] {
  return selectTexts(scope, texts, server).map((item) => {
    const from = { server: item.server, name: "context" };
    const text = `Context of the server ${JSON.stringify(item.server)}:\n${item.text}`;
    return { role: "user", content: [{ type: "text", text, from }] };
  });
}

function selectTexts(
  scope: CreateMessageParams["includeContext"],
  texts: readonly ServerContext[],
  server: string,
): readonly ServerContext[] {
  if (scope === "allServers") return texts;
  return scope === "thisServer" ? texts.filter((item) => item.server === server) : [];
}

function settingsOf(
  { maxTokens, temperature, stopSequences, toolChoice }: CreateMessageParams,
  { tools }: ToolNames,
): Partial<ModelRequest> {
  return {
    maxOutputTokens: maxTokens,
    ...(typeof temperature === "number" && { temperature }),
    ...(Array.isArray(stopSequences) && { stopSequences }),
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && toolChoice?.mode && { toolChoice: toolChoice.mode }),
  };
}

function checkParams({ maxTokens, systemPrompt, toolChoice }: CreateMessageParams): void {
  const problem =
    !Number.isSafeInteger(maxTokens) || maxTokens < 1
      ? "maxTokens must be an integer of at least 1"
      : systemPrompt !== undefined && typeof systemPrompt !== "string"
        ? "systemPrompt must be a string"
        : toolChoice?.mode !== undefined && !["auto", "required", "none"].includes(toolChoice.mode)
          ? "toolChoice.mode must be auto, required or none"
          : undefined;
  if (problem !== undefined) throw new ProtocolError(ErrorCode.InvalidParams, `params.${problem}`);
}

/** The tokens that the answers for one server may still have. Concurrent requests cannot exceed them together, because each reserves its maximum. */
export class TokenBudget {
  readonly #perSample: number;
  #left: number;

  constructor({ tokensPerSample, tokensPerServer }: InputLimits) {
    this.#perSample = tokensPerSample;
    this.#left = tokensPerServer;
  }

  /** Tokens that are neither used nor reserved. */
  get tokensLeft(): number {
    return this.#left;
  }

  /** Reserves tokens for an answer. Returns undefined if none are left. `settle` replaces the reservation by the tokens that the answer has. */
  reserve(maxTokens: number): { readonly tokens: number; settle(this: void, usedTokens: number): void } | undefined {
    const tokens = Math.min(maxTokens, this.#perSample, this.#left);
    if (tokens < 1) return undefined;
    this.#left -= tokens;
    let isOpen = true;
    const settle = (usedTokens: number): void => {
      if (isOpen) this.#left = Math.max(0, this.#left + tokens - usedTokens);
      isOpen = false;
    };
    return { tokens, settle };
  }
}

/** Returns the tokens of an answer, or of its beginning. They are estimated if the provider reports none. */
export function tokensOf(parts: readonly ModelPart[]): number {
  const finish = parts.find((part) => part.type === "finish");
  if (finish && finish.usage.outputTokens > 0) return finish.usage.outputTokens;
  return estimateTokens(parts.map(textOf).join(""));
}

function textOf(part: ModelPart): string {
  if (part.type === "text" || part.type === "reasoning") return part.text;
  return part.type === "tool-call" ? part.input : "";
}
