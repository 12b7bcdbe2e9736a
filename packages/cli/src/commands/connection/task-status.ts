import { LocalError } from "mcparley";
import type { Client, ClientExtension } from "mcparley/client";
import type { Task } from "mcparley/tasks";
import type { Screen } from "../../terminal/screen.ts";
import { visibleLine } from "../../terminal/text.ts";

/** The support of a command for tools that run as tasks. */
export interface TaskSupport {
  readonly extension: ClientExtension;
  /** Cancels the task of a call that ended with `error`, if nobody wants its result any more. Never rejects. */
  cancelAfter(error: unknown, client: Client): Promise<void>;
}

/** Milliseconds that a command waits for the reply to the cancellation of a task. */
const cancelLimit = 2_000;

/**
 * Lets the client call tools that are available only as a task, and follow other calls that become one. Shows the status of
 * the task whenever it changes.
 */
export async function taskSupport(screen: Screen): Promise<TaskSupport> {
  const { followTasks, tasksOf } = await import("mcparley/tasks");
  let current: Task | undefined;
  let lastText = "";
  const onTask = (task: Task): void => {
    current = task;
    const text = statusText(task);
    // The status is read again and again, and is most often the same.
    if (text === lastText) return;
    lastText = text;
    screen.status(text);
  };
  return {
    extension: followTasks({ onTask }),
    async cancelAfter(error, client) {
      const isUnwanted = error instanceof LocalError && (error.code === "aborted" || error.code === "timeout");
      if (!isUnwanted || !current || /^(?:completed|failed|cancelled)$/.test(current.status)) return;
      const timeout = { idle: cancelLimit, total: cancelLimit };
      // Closing the client would abort the cancellation that the client sends without waiting for its reply.
      await tasksOf(client)
        .cancel(current.taskId, { timeout })
        .catch(() => {});
    },
  };
}

function statusText({ status, statusMessage }: Task): string {
  const message = statusMessage === undefined ? "" : `: ${visibleLine(statusMessage)}`;
  return `task ${status.replace("_", " ")}${message}`;
}
