// @ts-check
import { createServer, tool } from "mcparley/server";

/** How many calls of each tool began and ended, whatever their end. */
const counts = { begun: 0, ended: 0 };
/** Milliseconds after which a handler ends that nobody cancels. */
const longest = 1_500;
const pageUri = "soak://page";
const text = /** @type {const} */ ({ type: "object", properties: { text: { type: "string" } }, required: ["text"] });

/**
 * A tool whose calls are counted.
 *
 * @template T
 * @param {(args: any, ctx: import("mcparley/server").Context) => T | Promise<T>} call
 * @returns {(args: any, ctx: import("mcparley/server").Context) => Promise<T>}
 */
function counted(call) {
  return async (args, ctx) => {
    counts.begun++;
    try {
      return await call(args, ctx);
    } finally {
      counts.ended++;
    }
  };
}

/** What is served to clients that come, drop, hang and misbehave. */
export const server = createServer({
  name: "soak",
  version: "1.0.0",
  tools: {
    echo: tool({ input: text, call: counted(({ text }) => text) }),
    wait: tool({ call: counted((_, { signal }) => untilCancelled(signal)) }),
    count: tool({
      call: counted(async (_, ctx) => {
        for (let done = 1; done <= 200; done++) ctx.progress(done, 200, "x".repeat(1_000));
        await untilCancelled(ctx.signal, 20);
        return "counted";
      }),
    }),
    ask: tool({
      call: counted(async (_, { elicit }) => {
        const { colour } = await elicit({ message: "Which colour?", schema: colours });
        return `You said ${String(colour)}.`;
      }),
    }),
    fail: tool({
      call: counted(() => {
        throw new Error("This fails on purpose.");
      }),
    }),
    change: tool({
      call: () => {
        server.resources.updated(pageUri);
        return "changed";
      },
    }),
    counts: tool({ call: () => JSON.stringify(counts) }),
  },
});

/** @type {{ type: "object", properties: { colour: { type: "string" } }, required: ["colour"] }} */
const colours = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };

/** @param {AbortSignal} signal @param {number} milliseconds @returns {Promise<string>} */
function untilCancelled(signal, milliseconds = longest) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds, "waited");
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
