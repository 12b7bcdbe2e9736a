import type { JsonObject, JsonRpcErrorBody } from "../../../rpc/messages.ts";
import type { InputRequest } from "../../../mcp/input-required.ts";
import type { Peer, Principal } from "../../../server/dispatch/context.ts";
import type { DetailedTask, RequestedTask, Task, TaskStatus } from "../task.ts";

/** One question of a task to its client. Its id is what the client answers by, and is never used again. */
export interface TaskQuestion {
  id: string;
  /** What the handler calls it, however often it is asked. */
  key: string;
  method: string;
  params: JsonObject;
  answer?: { result: unknown } | { error: JsonRpcErrorBody };
}

/** What it takes to run a task's request again. */
export interface KeptRequest {
  method: string;
  params: JsonObject;
  peer: Peer;
  principal?: Principal;
}

/** A task as the store keeps it. */
export interface TaskRecord {
  taskId: string;
  /** The key of the principal who created it; empty where the server knows nobody. */
  owner: string;
  status: TaskStatus;
  statusMessage?: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  updatedAt: number;
  ttlMs: number;
  pollIntervalMs: number;
  /** The client asked for it, as those of 2025-11-25 do. */
  requested: boolean;
  /** The run that it is in: no other one may change what a handler changes. */
  run: string;
  /** How many runs there were. */
  runs: number;
  questions: TaskQuestion[];
  /** The answers that the request brought along, and what `once` recorded. */
  answers: [key: string, answer: unknown][];
  once: [key: string, value: unknown][];
  /** There where the task may be run again after the process that ran it has died. */
  again?: KeptRequest;
  result?: JsonObject;
  error?: JsonRpcErrorBody;
}

export function toTask(record: TaskRecord): Task {
  const { taskId, status, statusMessage, createdAt, updatedAt, ttlMs, pollIntervalMs } = record;
  return {
    taskId,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs,
    pollIntervalMs,
  };
}

/** Says a question in the words of a revision. */
export type SayQuestion = (method: string, params: JsonObject) => JsonObject;

/** The task as `tasks/get` shows it. */
export function toDetailedTask(record: TaskRecord, say: SayQuestion): DetailedTask {
  const { status, result, error } = record;
  const more: JsonObject = {};
  if (status === "input_required") more.inputRequests = openRequests(record, say);
  if (status === "completed") more.result = result;
  if (status === "failed") more.error = error;
  return { ...toTask(record), ...more } as DetailedTask;
}

/** The task in the words of 2025-11-25, where a tool that failed is a task that failed. */
export function toRequestedTask(record: TaskRecord): RequestedTask {
  const { ttlMs, pollIntervalMs, ...task } = toTask(record);
  const hasFailed = record.status === "completed" && record.result?.isError === true;
  const shown = hasFailed ? { status: "failed" as const, statusMessage: "The tool reported an error." } : {};
  return { ...task, ...shown, ttl: ttlMs, pollInterval: pollIntervalMs as number };
}

export function openQuestions({ questions }: TaskRecord): TaskQuestion[] {
  return questions.filter(({ answer }) => answer === undefined);
}

function openRequests(record: TaskRecord, say: SayQuestion): Record<string, InputRequest> {
  const open = openQuestions(record).map(({ id, method, params }) => [id, { method, params: say(method, params) }]);
  return Object.fromEntries(open) as Record<string, InputRequest>;
}

/** The record with other questions, and the status that follows from them. */
export function withQuestions(record: TaskRecord, questions: TaskQuestion[]): TaskRecord {
  const isOpen = questions.some(({ answer }) => answer === undefined);
  return { ...record, questions, status: isOpen ? "input_required" : "working" };
}

/** The record with answers to open questions; undefined where none of them is answered. */
export function withAnswers(
  record: TaskRecord,
  answerTo: (id: string) => TaskQuestion["answer"],
): TaskRecord | undefined {
  let changed = false;
  const questions = record.questions.map((question) => {
    const answer = question.answer ? undefined : answerTo(question.id);
    if (!answer) return question;
    changed = true;
    return { ...question, answer };
  });
  return changed ? withQuestions(record, questions) : undefined;
}

/** How a task ends. */
export type Ending = { result: JsonObject } | { error: JsonRpcErrorBody } | { cancelled: string };

/** The record of a task that has ended: what only its run needed is gone. */
export function ended(record: TaskRecord, outcome: Ending): TaskRecord {
  const { statusMessage: _, again: __, ...rest } = record;
  const over = { ...rest, questions: [], answers: [], once: [] };
  if ("result" in outcome) return { ...over, status: "completed", result: outcome.result };
  if ("cancelled" in outcome) return { ...over, status: "cancelled", statusMessage: outcome.cancelled };
  return { ...over, status: "failed", statusMessage: outcome.error.message, error: outcome.error };
}
