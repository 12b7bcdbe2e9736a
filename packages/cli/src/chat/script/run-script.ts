import type { Conversation, Host, RunEnd, RunEvent, RunOptions, TotalUsage } from "@mcparley/host";
import { printableJson } from "mcparley";
import { allowCure } from "../../commands/connection/allow-cure.ts";
import { hasNoSignIn, tokenOption } from "../../targets/sign-in/refused-access.ts";
import { withOptionNames } from "../../targets/option-names.ts";
import { UsageError } from "../../terminal/io.ts";
import { type Screen, paragraph } from "../../terminal/screen.ts";
import { cut, visibleLine } from "../../terminal/text.ts";
import { answerOutput } from "./answer-output.ts";
import { CallRecorder, type ScriptCall, exitCodeOfRun, hasAnswer, unrecoveredCalls } from "./run-outcome.ts";

/** The settings of one run of `mcparley chat --prompt`. */
export interface ScriptSetting {
  readonly host: Host;
  /** The conversation, without the prompt. The run adds the prompt and the new messages to it. */
  readonly conversation: Conversation;
  readonly prompt: string;
  /** Cancels the run. */
  readonly signal: AbortSignal;
  /** Whether the result is one JSON document on stdout, in place of the text of the model. */
  readonly json: boolean;
  readonly screen: Pick<Screen, "out" | "err" | "print" | "note" | "progress" | "endProgress">;
  /** The name of the model, such as `ollama/qwen3`. */
  readonly model: string;
  /** Returns the command that signs in to a server. */
  readonly signInCure?: (server: string) => string;
  readonly limits?: Pick<RunOptions, "maxSteps" | "maxTokens" | "maxTime" | "system">;
  /**
   * Stores the conversation after the run, unless the model has answered nothing. Returns its id for the document, or undefined if nothing
   * was stored. If the conversation cannot be stored, the reason is a note and the document has no id.
   */
  readonly save?: () => Promise<string | undefined>;
}

/** The JSON document of `mcparley chat --prompt --json`. Later versions may add members. */
export interface ChatResult {
  /** The text of the last step. It is incomplete if `reason` is not `answered`. */
  readonly answer: string;
  readonly reason: RunEnd["reason"];
  /** The calls of the model, in order. */
  readonly calls: readonly ScriptCall[];
  /** The tokens of all steps. They are estimated if the provider reports none. */
  readonly usage: TotalUsage;
  /** The number of requests to the model. */
  readonly steps: number;
  readonly model: string;
  /** The servers that are not connected although they are enabled. */
  readonly unavailable: readonly UnavailableServer[];
  /** The id for `--resume`. Null without history. */
  readonly conversation: string | null;
  /** Only if `reason` is `error`. */
  readonly error?: { readonly message: string };
}

/** A server whose tools the model may have lacked. */
interface UnavailableServer {
  readonly name: string;
  readonly state: "failed" | "needs-sign-in";
  readonly message: string;
}

/** The outcome of a script. */
export interface ScriptResult {
  readonly exitCode: number;
  readonly document: ChatResult;
}

/**
 * Runs the model once with a prompt, and writes its answer to stdout. Calls, denials and progress are notes on stderr.
 *
 * Rejects if the host has no model, a limit is invalid, or stdout cannot be written. An error of the model is a part of the result.
 */
export async function runScript(setting: ScriptSetting): Promise<ScriptResult> {
  const { host, conversation, signal, json, screen, limits } = setting;
  const previousMessages = conversation.messages;
  conversation.user(setting.prompt);
  const calls = new CallRecorder(previousMessages, () => host.catalogue);
  const text = json ? undefined : answerOutput(screen);
  let answer = "";
  let steps = 0;
  const run = host.run({ conversation, signal, ...limits });
  for await (const event of run) {
    if (event.type === "step") [steps, answer] = [event.step, ""];
    if (event.type === "text") answer += event.text;
    if (event.type === "text") await text?.write(event.text);
    // It follows the text of each step.
    if (event.type === "usage" && event.usage.server === undefined) await text?.endText();
    noteEvent(event, calls, screen);
  }
  const end = await run.finished;
  screen.endProgress();
  // A message without an answer leaves no trace: the next run would add another message of the user to it.
  const id = hasAnswer(end, previousMessages) ? await savedId(setting) : undefined;
  const { reason, usage, error } = end;
  const document: ChatResult = {
    answer,
    reason,
    calls: calls.finish(end.messages),
    usage,
    steps,
    model: setting.model,
    unavailable: unavailableServers(setting),
    conversation: id ?? null,
    ...(error && { error: { message: error.message } }),
  };
  if (json) await screen.print(`${printableJson(document, 2)}\n`);
  else noteEnd(document, screen);
  return { exitCode: exitCodeOfRun(end, document.calls), document };
}

async function savedId({ save, screen }: ScriptSetting): Promise<string | undefined> {
  try {
    return await save?.();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const hint = error.hint === undefined ? "" : ` ${error.hint}`;
    screen.note(paragraph(`mcparley: ${error.message}${hint}`, screen.err));
    return undefined;
  }
}

function unavailableServers({ host, signInCure }: ScriptSetting): UnavailableServer[] {
  return [...host.servers.values()].flatMap(({ name, state, error }) => {
    if (state !== "failed" && state !== "needs-sign-in") return [];
    // The cure of the host is a function of the program, and that of the user is a command.
    const message = (error?.message ?? state).replace(
      "Pass `signIn` to createHost.",
      (cure) => signInCure?.(name) ?? cure,
    );
    const example = hasNoSignIn(error) ? ` Such as ${tokenOption}` : "";
    return [{ name, state, message: withOptionNames(message) + example }];
  });
}

function isDenied({ status }: ScriptCall): boolean {
  return status === "denied";
}

/** Maximum columns of a note about a call. */
const widestNote = 200;

/** Writes a note about a call: its start, its progress, and each outcome except a result. */
function noteEvent(event: RunEvent, calls: CallRecorder, screen: ScriptSetting["screen"]): void {
  const { dim, yellow } = screen.err.style;
  const call = calls.take(event);
  if (event.type === "call") {
    const name = event.server === undefined ? event.name : `${event.name} of ${event.server}`;
    screen.note(dim(cut(visibleLine(`call: ${name} ${JSON.stringify(event.arguments)}`), widestNote)));
  }
  if (event.type === "activity" && event.activity.type === "progress") screen.progress(event.activity.progress);
  if (event.type === "activity" && event.activity.type === "input-request" && event.activity.state === "declined") {
    screen.note(yellow(`declined: an input request of the call (${event.activity.kind})`));
  }
  if (event.type === "result") screen.endProgress();
  if (call && call.status !== "result") {
    screen.note(yellow(cut(visibleLine(`${call.status}: ${call.name}: ${call.text}`), widestNote)));
  }
}

/** The sentences about runs without a complete answer. */
const endings: Readonly<Record<RunEnd["reason"], string | undefined>> = {
  answered: undefined,
  steps: "The answer is incomplete: the run reached its limit of steps.",
  tokens: "The answer is incomplete: the run reached its limit of tokens.",
  time: "The answer is incomplete: the run reached its limit of time.",
  length: "The answer is incomplete: it reached the output limit of the model.",
  filtered: "The answer is incomplete: the provider filtered it.",
  cancelled: "The run was cancelled.",
  error: "The model failed.",
};

/** Writes notes about what a reader of the answer does not see: an early end, denied calls, and unavailable servers. */
function noteEnd(document: ChatResult, screen: ScriptSetting["screen"]): void {
  const { reason, error, calls, unavailable } = document;
  for (const { name, message } of unavailable) {
    screen.note(paragraph(`mcparley: The server ${JSON.stringify(name)} is unavailable: ${message}`, screen.err));
  }
  const deniedCalls = calls.filter(isDenied);
  if (deniedCalls.length > 0) {
    const subject = deniedCalls.length === 1 ? "1 call was denied" : `${deniedCalls.length} calls were denied`;
    const cure = allowCure(deniedCalls.map(({ name, server, tool }) => (tool === null ? name : `${server}:${tool}`)));
    screen.note(paragraph(`mcparley: ${subject}. ${cure}`, screen.err));
  }
  const failedCalls = unrecoveredCalls(calls);
  if (reason === "answered" && failedCalls.length > 0) {
    const names = failedCalls.map(({ name }) => name).join(", ");
    screen.note(paragraph(`mcparley: The last call of a tool failed: ${names}.`, screen.err));
  }
  const ending = error?.message ?? endings[reason];
  if (ending === undefined) return;
  const prefix = "mcparley:";
  screen.note(screen.err.style.red(prefix) + paragraph(`${prefix} ${ending}`, screen.err).slice(prefix.length));
}
