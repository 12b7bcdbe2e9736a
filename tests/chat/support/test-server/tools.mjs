// @ts-check
import { setTimeout as pause } from "node:timers/promises";
import { ToolError } from "mcparley";
import { image, tool } from "mcparley/server";
import { asTask } from "mcparley/tasks";
import { hostileText } from "./hostile.mjs";

/** @import { Context, Server, Tool } from "mcparley/server" */
/** @typedef {(event: string, details?: object) => void} Log Records what the server does. */
/** @typedef {{ cancelled: number, counter: number, added: number }} State */

/** A picture of 8 × 8 pixels in red and blue. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAHElEQVR42mMwSLgARxcMDOCIgYoSyBxkRVSUAAAKqFIBk3uZUgAAAABJRU5ErkJggg==";

const text = /** @type {const} */ ({ type: "string" });
const number = /** @type {const} */ ({ type: "number" });

/** @param {object} properties @param {readonly string[]} [required] */
const objectOf = (properties, required = Object.keys(properties)) => ({ type: "object", properties, required });

/** The tools that need nothing of the client. @param {Log} log @returns {Record<string, Tool>} */
export function plainTools(log) {
  return {
    echo: tool({
      description: "Returns the text.",
      annotations: { readOnlyHint: true },
      input: objectOf({ text }),
      call: (input) => {
        log("echo", input);
        return String(input["text"]);
      },
    }),
    add: tool({
      description: "Adds two numbers.",
      annotations: { readOnlyHint: true },
      input: objectOf({ a: number, b: number }),
      output: objectOf({ sum: number }),
      call: (input) => ({ sum: Number(input["a"]) + Number(input["b"]) }),
    }),
    delete_all: tool({
      description: "Deletes all files of a folder.",
      annotations: { destructiveHint: true, readOnlyHint: false },
      input: objectOf({ folder: text }),
      call: (input) => {
        log("delete_all", input);
        return `Deleted all files of ${String(input["folder"])}.`;
      },
    }),
    picture: tool({
      description: "Draws a small picture.",
      annotations: { readOnlyHint: true },
      call: () => ["The picture:", image(png, "image/png")],
    }),
    variable: tool({
      description: "Returns a variable of the environment.",
      annotations: { readOnlyHint: true },
      input: objectOf({ name: text }),
      call: (input) => `its value is ${process.env[String(input["name"])]}`,
    }),
    log_lines: tool({
      description: "Sends a log message of each level.",
      annotations: { readOnlyHint: true },
      call: (_, { log: send }) => {
        send.debug("the debug message");
        send.info("the info message", "files");
        send.notice({ text: "the notice message", size: 3 });
        send.warning("the warning message");
        send.error("the error message");
        return "logged";
      },
    }),
    hostile: tool({
      description: "Returns text that would control a terminal, and sends it as progress and log messages.",
      annotations: { readOnlyHint: true },
      call: (_, ctx) => {
        ctx.progress(1, 2, `progress ${hostileText}`);
        ctx.log.error(`log ${hostileText}`, hostileText);
        ctx.progress(2, 2, `progress ${hostileText}`);
        return `result ${hostileText}`;
      },
    }),
    die: tool({
      description: "Ends the process of the server.",
      call: () => {
        log("die");
        process.exit(7);
      },
    }),
  };
}

/** The tools that take time. @param {Log} log @param {State} state @returns {Record<string, Tool>} */
export function slowTools(log, state) {
  const input = {
    type: "object",
    properties: {
      steps: { type: "integer", description: "The number of steps. Default: without an end." },
      interval: { type: "integer", description: "Milliseconds for each step. Default: 50." },
    },
  };
  const run = async (/** @type {Record<string, unknown>} */ given, /** @type {Context} */ ctx) => {
    const { steps = Infinity, interval = 50 } = /** @type {{ steps?: number, interval?: number }} */ (given);
    try {
      for (let step = 1; step <= steps; step++) {
        ctx.progress(step, steps === Infinity ? undefined : steps, `step ${step}`);
        await pause(interval, undefined, { signal: ctx.signal });
      }
    } catch (error) {
      if (!ctx.signal.aborted) throw error;
      state.cancelled++;
      log("cancelled");
      throw error;
    }
    return `finished after ${steps} steps`;
  };
  return {
    slow: tool({
      description: "Works step by step until it is cancelled, and reports its progress.",
      annotations: { readOnlyHint: true },
      input,
      call: run,
    }),
    task: tool({
      description: "Works step by step as a task.",
      annotations: { readOnlyHint: true },
      input,
      extensions: [asTask()],
      call: run,
    }),
  };
}

/** The form of `ask_form`, with a field of each kind. */
const form = objectOf(
  {
    name: { type: "string", title: "Name", description: "The name on the booking", minLength: 2 },
    guests: { type: "integer", title: "Guests", minimum: 1, maximum: 12, default: 2 },
    window: { type: "boolean", title: "At a window" },
    meal: { type: "string", title: "Meal", oneOf: [choice("veg", "Vegetarian"), choice("fish", "Fish")] },
    extras: { type: "array", title: "Extras", items: { anyOf: [choice("bread", "Bread"), choice("wine", "Wine")] } },
  },
  ["name", "guests", "meal"],
);

/** @param {string} value @param {string} title */
function choice(value, title) {
  return { const: value, title };
}

/** The tools that ask the client. @param {Log} log @returns {Record<string, Tool>} */
export function askingTools(log) {
  return {
    ask_form: tool({
      description: "Books a table. Asks the user with a form.",
      annotations: { readOnlyHint: true },
      call: async (_, ctx) => {
        const answer = await ctx.elicit({ message: "Which table do you want?", schema: form });
        log("answered", { answer });
        return `booked ${JSON.stringify(answer)}`;
      },
    }),
    ask_url: tool({
      description: "Asks the user to visit a page.",
      annotations: { readOnlyHint: true },
      call: async (_, ctx) => {
        await ctx.elicit({ message: "Connect your account.", url: "https://accounts.example/connect?visit=1" });
        log("visited");
        return "the user has agreed to open the page";
      },
    }),
    ask_model: tool({
      description: "Asks the model of the client.",
      annotations: { readOnlyHint: true },
      input: objectOf({ question: text }),
      call: async (input, ctx) => {
        const { content } = await ctx.sample({
          systemPrompt: "Answer in one word.",
          messages: [{ role: "user", content: { type: "text", text: String(input["question"]) } }],
          maxTokens: 50,
        });
        log("sampled", { content });
        return `the model answered ${JSON.stringify(content)}`;
      },
    }),
    list_roots: tool({
      description: "Lists the folders of the user.",
      annotations: { readOnlyHint: true },
      call: async (_, ctx) => (await ctx.roots()).map(({ uri, name }) => `${name ?? "unnamed"}: ${uri}`).join("\n"),
    }),
  };
}

/** The tools that change the server. @param {() => Server} serverOf @param {State} state @returns {Record<string, Tool>} */
export function changingTools(serverOf, state) {
  return {
    change_tools: tool({
      description: "Adds a tool, and changes the description of echo.",
      call: () => {
        const { tools } = serverOf();
        const name = `added_${++state.added}`;
        tools.set(name, tool({ description: "Was added.", call: () => `called ${name}` }));
        tools.set(
          "echo",
          tool({ description: `Returns the text, version ${state.added + 1}.`, call: () => "changed" }),
        );
        return `added ${name}`;
      },
    }),
    count: tool({
      description: "Increases the counter.",
      call: () => {
        serverOf().resources.updated("counter://value");
        return `the counter is ${++state.counter}`;
      },
    }),
  };
}

/** A tool that can ask its user on 2025-11-25 only. @type {Tool} */
export const legacyTool = tool({
  description: "Asks the user.",
  annotations: { readOnlyHint: true },
  call: (_, { peer }) => {
    if (peer.revision === "2025-11-25") return "asked the user";
    throw new ToolError("Error: elicitation is not supported on this protocol version");
  },
});
