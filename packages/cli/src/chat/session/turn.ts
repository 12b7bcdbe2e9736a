import type { CallActivity, Message, RunEnd, RunEvent } from "@mcparley/host";
import { printable } from "mcparley";
import { visibleLine } from "../../terminal/text.ts";
import { recordCalls } from "../script/script-calls.ts";
import { exitCodeOfRun, hasAnswer } from "../script/run-end.ts";
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
export async function runTurn(sent: SentText, chat: Chat): Promise<number> {
  const { host, conversation, terminal } = chat;
  const before = conversation.messages;
  const calls = recordCalls(before, () => host.catalogue);
  const run = host.run(runOptions(chat));
  const status = callStatus(chat);
  status.waiting();
  try {
    await duringRun(chat, run, async () => {
      for await (const event of run) showEvent(event, { chat, status });
    });
  } finally {
    terminal.status([]);
    terminal.endText();
  }
  const end = await run.finished;
  showEnd(end, chat);
  const isAnswered = hasAnswer(end, before);
  // A message without an answer stays if the chat is left, so that it can be continued.
  const isLeft = end.reason === "cancelled" && terminal.hasEnded;
  if (!isAnswered && !isLeft) takeBack(sent, chat);
  if (isAnswered && end.reason === "error") terminal.note(chat.view.style.dim(partText));
  void storeConversation(chat);
  const isDenied = calls.finish(end.messages).some(({ status }) => status === "denied");
  return exitCodeOfRun(end, isDenied);
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

interface Shown {
  readonly chat: Chat;
  readonly status: CallStatus;
}

function showEvent(event: RunEvent, { chat, status }: Shown): void {
  const { terminal, view } = chat;
  switch (event.type) {
    case "step":
      return status.waiting();
    case "text":
      status.answering();
      return terminal.write(printable(event.text));
    case "reasoning":
      return status.thinking();
    case "call":
      terminal.print(view.style.bold(callLine(event.name, event.arguments)));
      return status.started(event.callId, event.name);
    case "activity":
      return status.activity(event.callId, event.activity);
    case "result":
      // The results of calls at the same time are in the order in which they arrive.
      if (status.isParallel) terminal.print(view.style.dim(`${visibleLine(event.result.name)} returned:`));
      status.ended(event.callId);
      return showResult(event.result, chat);
    default:
  }
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
  const { inputTokens, outputTokens, isEstimated } = usage;
  const mark = isEstimated ? "~" : "";
  if (inputTokens + outputTokens > 0) terminal.note(dim(`${mark}${inputTokens} tokens in, ${mark}${outputTokens} out`));
}

/** The lines above the input during a turn: one for the model, and one for each call that runs. */
interface CallStatus {
  waiting(this: void): void;
  thinking(this: void): void;
  answering(this: void): void;
  started(this: void, callId: string, name: string): void;
  activity(this: void, callId: string, activity: CallActivity): void;
  ended(this: void, callId: string): void;
  /** Whether several calls of the present step were started. */
  readonly isParallel: boolean;
}

function callStatus({ terminal }: Chat): CallStatus {
  const calls = new Map<string, { name: string; state: string }>();
  let model: string | undefined;
  let started = 0;
  const show = (): void => {
    const lines = [...calls.values()].map(({ name, state }) => `${visibleLine(name)}: ${state} (Ctrl-C cancels)`);
    terminal.status(lines.length > 0 || model === undefined ? lines : [`${model} (Ctrl-C stops)`]);
  };
  const setModel = (text: string | undefined): void => {
    if (model === text) return;
    model = text;
    show();
  };
  return {
    waiting() {
      started = 0;
      setModel("Waiting for the model");
    },
    get isParallel() {
      return started > 1;
    },
    thinking: () => setModel("The model is thinking"),
    answering: () => setModel(undefined),
    started(callId, name) {
      started += 1;
      model = "Waiting for the model";
      calls.set(callId, { name, state: "running" });
      show();
    },
    activity(callId, activity) {
      const call = calls.get(callId);
      if (!call) return;
      call.state = activityText(activity);
      show();
    },
    ended(callId) {
      calls.delete(callId);
      show();
    },
  };
}

/** Returns the state of a call in a few words. */
export function activityText(activity: CallActivity): string {
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
  const about = message === undefined ? "" : ` ${visibleLine(message)}`;
  if (total === undefined || total <= 0) return `${progress}${about}`;
  const share = Math.min(1, Math.max(0, progress / total));
  const bar = "#".repeat(Math.round(share * barWidth)).padEnd(barWidth, ".");
  return `[${bar}] ${Math.floor(share * 100)}%${about}`;
}
