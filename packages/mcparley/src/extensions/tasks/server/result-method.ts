import { LocalError, ProtocolError, invalidParams } from "../../../rpc/errors.ts";
import { ErrorCode } from "../../../mcp/errors.ts";
import type { JsonObject, JsonRpcErrorBody } from "../../../rpc/messages.ts";
import type { CallToolResult } from "../../../mcp/tools.ts";
import { toProtocolError } from "../../../server/dispatch/reply.ts";
import type { Call } from "../../../server/dispatch/call.ts";
import { isOver, relatedTask } from "../task.ts";
import { type TaskQuestion, type TaskRecord, openQuestions, withAnswers } from "./record.ts";
import type { Runner } from "./runner.ts";
import { watchTask } from "./watch-task.ts";

/**
 * Answers `tasks/result` once the task is over, with what its request would have been answered with. While it waits, it
 * asks what the task asks (2025-11-25, Input Required Status).
 */
export async function resultOf(call: Call, runner: Runner, { taskId }: TaskRecord): Promise<JsonObject> {
  const asked = new Set<string>();
  const record = await new Promise<TaskRecord | undefined>((resolve, reject) => {
    const stop = watchTask(runner, taskId, (seen) => {
      if (!seen || isOver(seen)) return resolve(seen);
      for (const question of openQuestions(seen)) {
        if (asked.has(question.id)) continue;
        asked.add(question.id);
        void ask(call, runner, { taskId, question });
      }
    });
    const onAbort = (): void => {
      stop();
      reject(new LocalError("aborted", "The client does not wait for the task any more."));
    };
    if (call.signal.aborted) onAbort();
    else call.signal.addEventListener("abort", onAbort, { once: true });
  });
  if (!record) throw invalidParams("The task has outlived its ttl.");
  return outcomeOf(call, record);
}

function outcomeOf({ encoder }: Call, { taskId, result, error }: TaskRecord): JsonObject {
  if (error) throw ProtocolError.from(error);
  if (!result) throw new ProtocolError(ErrorCode.InternalError, "The task was cancelled.");
  const { _meta: meta, ...encoded } = encoder.callToolResult(result as unknown as CallToolResult);
  return { ...encoded, _meta: { ...meta, [relatedTask]: { taskId } } };
}

/** Asks one question of a task on the stream of this request, and hands the answer to the task. */
async function ask(
  call: Call,
  runner: Runner,
  { taskId, question }: { taskId: string; question: TaskQuestion },
): Promise<void> {
  const { id, method, params } = question;
  const answer = await answerTo(call, {
    method,
    key: id,
    params: { ...params, _meta: { ...(params._meta as JsonObject | undefined), [relatedTask]: { taskId } } },
  });
  if (!answer) return;
  try {
    const record = await runner.table.update(taskId, (now) =>
      isOver(now) ? undefined : withAnswers(now, (asked) => (asked === id ? answer : undefined)),
    );
    if (record) await runner.revived(record);
  } catch (error) {
    runner.core.report(error, call);
  }
}

/** Undefined where the client is gone, or did not answer in time: the question stays open for whoever comes next. */
async function answerTo(
  call: Call,
  question: { method: string; params: JsonObject; key: string },
): Promise<{ result: unknown } | { error: JsonRpcErrorBody } | undefined> {
  try {
    const channel = await call.input;
    return { result: await channel.request({ ...question, requires: {}, read: (result) => result }) };
  } catch (error) {
    const isGone = error instanceof LocalError && /^(aborted|closed|timeout)$/.test(error.code);
    return isGone ? undefined : { error: toProtocolError(error, call).toBody() };
  }
}
