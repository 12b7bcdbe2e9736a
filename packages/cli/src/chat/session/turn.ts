import type { CallActivity, Message, RunEnd, RunEvent, ToolOutcome, TotalUsage, Usage } from "@mcparley/host";
import { printable } from "mcparley";
import { readContent } from "mcparley/client";
import { saysCannotAsk } from "../../commands/connection/report-error.ts";
import { paragraph } from "../../terminal/screen.ts";
import type { ChatTerminal } from "../../terminal/interactive/terminal.ts";
import { visibleLine } from "../../terminal/text.ts";
import { CallRecorder, exitCodeOfRun, hasAnswer } from "../script/run-outcome.ts";
import { type Chat, duringRun, runOptions, storeConversation } from "./chat.ts";
import { callLine, showResult } from "./show-message.ts";

/** A text of the user, with the messages that were added to the conversation for it. */
export interface SentText {
  readonly text: string;
  readonly messages: readonly Message[];
}

/**
 * Runs the model on the conversation until it answers, and shows what happens. Resolves also if the run fails, with the exit code for
 * it. If the model has answered nothing, the messages are removed from the conversation, and the text is offered again.
 */
export async function runTurn(sentText: SentText, chat: Chat): Promise<number> {
  const { host, conversation, terminal } = chat;
  const previousMessages = conversation.messages;
  const calls = new CallRecorder(previousMessages, () => host.catalogue);
  const run = host.run(runOptions(chat));
  const status = new TurnStatus(terminal);
  status.startStep();
  try {
    await duringRun(chat, run, async () => {
      for await (const event of run) showEvent(event, chat, status);
    });
  } finally {
    terminal.status([]);
    terminal.endText();
  }
  const end = await run.finished;
  showEnd(end, chat);
  const isAnswered = hasAnswer(end, previousMessages);
  // A message without an answer stays if the chat is left, so that it can be continued.
  const isLeft = end.reason === "cancelled" && terminal.hasEnded;
  if (!isAnswered && !isLeft) takeBack(sentText, chat);
  if (isAnswered && end.reason === "error") terminal.note(chat.view.style.dim(partText));
  void storeConversation(chat);
  return exitCodeOfRun(end, calls.finish(end.messages));
}

const partText =
  'What arrived before the failure stays in the conversation. Send a message such as "Continue" to go on.';

/** Removes messages without an answer from the conversation, and offers their text again. Two messages of the user in a row are refused by some models. */
function takeBack({ text, messages }: SentText, chat: Chat): void {
  const { conversation, terminal } = chat;
  conversation.replace(conversation.messages.filter((message) => !messages.includes(message)));
  if (terminal.isRich) chat.draft = text;
  else terminal.note(chat.view.style.dim("The message has no answer, and was removed from the conversation."));
}

function showEvent(event: RunEvent, chat: Chat, status: TurnStatus): void {
  const { terminal, view } = chat;
  switch (event.type) {
    case "step":
      return status.startStep();
    case "text":
      status.showModel(undefined);
      return terminal.write(printable(event.text));
    case "reasoning":
      return status.showModel("The model is thinking");
    case "call":
      terminal.print(view.style.bold(callLine(event.name, event.arguments)));
      return status.startCall(event.callId, event.name);
    case "activity":
      return status.showActivity(event.callId, event.activity);
    case "result":
      // The results of calls at the same time are in the order in which they arrive.
      if (status.isParallel) terminal.print(view.style.dim(`${visibleLine(event.result.name)} returned:`));
      status.endCall(event.callId);
      showResult(chat.results.add(event.result, event.outcome), chat);
      return showOtherRevision(event.result.name, event.outcome, chat);
    default:
  }
}

/** Shows how to use an earlier revision if a server failed because it cannot send input requests on the present one. */
export function showOtherRevision(
  name: string,
  outcome: ToolOutcome | undefined,
  { host, terminal, view }: Chat,
): void {
  const server = host.catalogue.tool(name)?.server;
  if (!outcome || server === undefined || !saysCannotAsk(errorTextOf(outcome))) return;
  const text = `The server may be able to ask you on an earlier revision: /servers revision ${visibleLine(server)} 2025-11-25`;
  terminal.note(view.style.yellow(paragraph(text, view)));
}

function errorTextOf(outcome: ToolOutcome): string {
  if (outcome.status !== "result") return outcome.status === "failed" ? outcome.error.message : "";
  if (outcome.result.isError !== true) return "";
  return readContent(outcome.result.content)
    .flatMap((block) => (block.type === "text" ? block.text : []))
    .join("\n");
}

/** The reasons for which a run ends before its answer is complete. */
const endTexts: Readonly<Record<Exclude<RunEnd["reason"], "answered" | "error">, string>> = {
  steps: "The model reached the limit of requests in one turn. Send another message to let it continue.",
  tokens: "The turn reached its limit of tokens.",
  time: "The turn reached its limit of time.",
  length: "The answer reached the maximum length of the model.",
  filtered: "The provider of the model filtered the answer.",
  cancelled: "Stopped.",
};

function showEnd({ reason, error, usage }: RunEnd, { terminal, view }: Chat): void {
  const { red, yellow, dim } = view.style;
  if (reason === "error") terminal.note(red(visibleLine(error?.message ?? "The model failed without a reason.")));
  else if (reason !== "answered") terminal.note(yellow(endTexts[reason]));
  if (usage.inputTokens + usage.outputTokens > 0) terminal.note(dim(usageText(usage)));
}

/** Returns the tokens of a turn. The tokens of sampling requests of servers are also shown by server, because the total includes them. */
function usageText({ origins, ...usage }: TotalUsage): string {
  const ofServers = origins.filter(({ server }) => server !== undefined);
  const samples = ofServers.map((origin) => `${visibleLine(origin.server ?? "")}: ${tokensText(origin)}`);
  return tokensText(usage) + (samples.length === 0 ? "" : ` (sampling of ${samples.join("; ")})`);
}

function tokensText({ isEstimated, ...usage }: Usage): string {
  const mark = isEstimated ? "~" : "";
  const cached = countText(usage.cacheReadTokens, "cached");
  const input = [...cached, ...countText(usage.cacheWriteTokens, "written to the cache")];
  const output = countText(usage.reasoningTokens, "reasoning");
  return `${mark}${usage.inputTokens} tokens in${partsText(input)}, ${mark}${usage.outputTokens} out${partsText(output)}`;
}

function partsText(texts: readonly string[]): string {
  return texts.length === 0 ? "" : ` (${texts.join(", ")})`;
}

function countText(tokens: number | undefined, name: string): string[] {
  return tokens === undefined ? [] : [`${tokens} ${name}`];
}

/** The lines above the input during a turn: one for the model, and one for each call that runs. */
class TurnStatus {
  readonly #terminal: ChatTerminal;
  readonly #calls = new Map<string, { name: string; state: string }>();
  #model: string | undefined;
  /** The number of calls of the present step that were started. */
  #started = 0;

  constructor(terminal: ChatTerminal) {
    this.#terminal = terminal;
  }

  /** Whether several calls of the present step were started. */
  get isParallel(): boolean {
    return this.#started > 1;
  }

  /** Starts a step of the run. */
  startStep(): void {
    this.#started = 0;
    this.showModel("Waiting for the model");
  }

  /** Shows what the model does. Undefined while its text arrives. */
  showModel(text: string | undefined): void {
    if (this.#model === text) return;
    this.#model = text;
    this.#show();
  }

  startCall(callId: string, name: string): void {
    this.#started += 1;
    this.#model = "Waiting for the model";
    this.#calls.set(callId, { name, state: queuedState });
    this.#show();
  }

  showActivity(callId: string, activity: CallActivity): void {
    const call = this.#calls.get(callId);
    if (!call) return;
    call.state = activityText(activity);
    this.#show();
  }

  endCall(callId: string): void {
    this.#calls.delete(callId);
    this.#show();
  }

  #show(): void {
    const calls = [...this.#calls.values()].map(({ name, state }) => `${visibleLine(name)}: ${state} (Ctrl-C cancels)`);
    const model = this.#model === undefined ? [] : [`${this.#model} (Ctrl-C stops)`];
    this.#terminal.status(calls.length > 0 ? calls : model);
  }
}

/** The state of a call that is neither sent nor asked for yet, such as one behind the question for another call. */
export const queuedState = "queued";

/** Returns the state of a call in a few words. */
export function activityText(activity: CallActivity): string {
  if (activity.type === "usage" || activity.type === "sent") return "running";
  if (activity.type === "progress") return progressText(activity.progress);
  if (activity.type === "approval") return activity.state === "waiting" ? "waits for your approval" : activity.state;
  if (activity.type === "input-request") {
    const { kind, state } = activity;
    return state === "waiting" ? `waits for your answer (${kind})` : `running, ${kind} ${state}`;
  }
  const { status, statusMessage } = activity.task;
  const message = statusMessage === undefined ? "" : `: ${visibleLine(statusMessage)}`;
  return `task ${status.replace("_", " ")}${message}`;
}

/** Width of the bar of a progress. */
const barWidth = 20;

function progressText({ progress, total, message }: Extract<CallActivity, { type: "progress" }>["progress"]): string {
  const messageText = message === undefined ? "" : ` ${visibleLine(message)}`;
  if (total === undefined || total <= 0) return `${progress}${messageText}`;
  const share = Math.min(1, Math.max(0, progress / total));
  const bar = "#".repeat(Math.round(share * barWidth)).padEnd(barWidth, ".");
  return `[${bar}] ${Math.floor(share * 100)}%${messageText}`;
}
