import { ProtocolError, type Tool, ToolError, tool } from "mcparley/server";
import { asTask, continueAsTask } from "mcparley/tasks";

const nameForm = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const confirmForm = { type: "object", properties: { confirm: { type: "boolean" } }, required: ["confirm"] } as const;

/** Waits, unless the task is cancelled before. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

/** The tools of the scenarios of the tasks extension. */
export const taskTools: Record<string, Tool> = {
  greet: tool({
    description: "Greets at once.",
    input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    call: ({ name }) => `Hello, ${name}!`,
  }),
  slow_compute: tool({
    description: "Computes for the requested time.",
    input: { type: "object", properties: { seconds: { type: "number" }, label: { type: "string" } } },
    extensions: [asTask()],
    call: async ({ seconds, label }, { signal }) => {
      await pause((seconds ?? 1) * 1000, signal);
      return `Computed ${typeof label === "string" ? label : "nothing"}.`;
    },
  }),
  failing_job: tool({
    description: "Fails after a second, and runs as a task alone.",
    extensions: [asTask({ support: "required" })],
    call: async (_, { signal }) => {
      await pause(1000, signal);
      throw new ToolError("The job has failed.");
    },
  }),
  protocol_error_job: tool({
    description: "Ends with an error of the protocol.",
    extensions: [asTask()],
    call: async (_, { signal }) => {
      await pause(100, signal);
      throw new ProtocolError(-32603, "The job could not be carried out.");
    },
  }),
  confirm_delete: tool({
    description: "Deletes a file, if the user confirms it.",
    input: { type: "object", properties: { filename: { type: "string" } }, required: ["filename"] },
    extensions: [asTask()],
    call: async ({ filename }, ctx) => {
      const { confirm } = await ctx.elicit({ message: `Delete ${filename}?`, schema: confirmForm });
      return confirm ? `Deleted ${filename}.` : "Nothing was deleted.";
    },
  }),
  multi_input: tool({
    description: "Asks two questions at the same time.",
    extensions: [asTask()],
    call: async (_, ctx) => {
      const [name, confirmed] = await Promise.all([
        ctx.elicit({ message: "What is your name?", schema: nameForm, key: "name" }),
        ctx.elicit({ message: "Go on?", schema: confirmForm, key: "confirm" }),
      ]);
      return JSON.stringify({ ...name, ...confirmed });
    },
  }),
  test_tool_with_task: tool({
    description: "Requests a name first, and continues as a task.",
    call: async (_, ctx) => {
      const { name } = await ctx.elicit({ message: "What is your name?", schema: nameForm, key: "user_name" });
      await continueAsTask(ctx);
      await pause(100, ctx.signal);
      return `Hello, ${name}!`;
    },
  }),
};
