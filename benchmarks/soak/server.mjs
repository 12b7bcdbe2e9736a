// @ts-check
import { setImmediate as turn } from "node:timers/promises";
import { createServer, prompt, rateLimit, resource, tool } from "mcparley/server";
import { limits, rate } from "./limits.mjs";

/** @import { ServerObserver } from "mcparley/server" */

/**
 * State of the server, for the judge. `begun` and `ended` count the calls of tools. `endings` counts the ended sessions by reason, and
 * `errors` the errors that no visitor causes on purpose.
 *
 * @typedef {object} ServerCounts
 * @property {number} begun
 * @property {number} ended
 * @property {number} streams Open `subscriptions/listen` streams.
 * @property {Record<string, number>} endings
 * @property {Record<string, number>} errors
 */

/** @type {ServerCounts} */
const counts = { begun: 0, ended: 0, streams: 0, endings: {}, errors: {} };
/** Errors of handlers that visitors cause on purpose. */
const onPurpose = /^This fails on purpose\.$|^elicitation\/create was not answered within/;
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

/** @type {ServerObserver} */
const counting = {
  started: ({ method }) => {
    if (method !== "subscriptions/listen") return undefined;
    counts.streams++;
    return { ended: () => void counts.streams-- };
  },
  sessionEnded: ({ reason }) => {
    counts.endings[reason] = (counts.endings[reason] ?? 0) + 1;
  },
};

/** The server for all visitors. */
export const server = createServer({
  name: "soak",
  version: "1.0.0",
  limits,
  observers: [counting],
  onError: (error) => {
    const text = error instanceof Error ? error.message : String(error);
    if (!onPurpose.test(text)) counts.errors[text] = (counts.errors[text] ?? 0) + 1;
  },
  prompts: {
    trip: prompt({ arguments: { city: { complete: ["Berlin", "Bern", "Oslo"] } }, get: ({ city }) => String(city) }),
  },
  resources: { note: resource("note://{id}", { read: ({ id }) => id }) },
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
        return `You said ${colour}.`;
      }),
    }),
    fail: tool({
      call: counted(() => {
        throw new Error("This fails on purpose.");
      }),
    }),
    // Sends more progress than a stream may have unread.
    gush: tool({
      call: counted(async (_, ctx) => {
        const megabyte = "x".repeat(1_000_000);
        for (let sent = 1; sent <= 40 && !ctx.signal.aborted; sent++) {
          ctx.progress(sent, 40, megabyte);
          await turn();
        }
        return "gushed";
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

server.use(rateLimit(rate));

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
