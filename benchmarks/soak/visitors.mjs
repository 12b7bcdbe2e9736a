// @ts-check
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "mcparley/client";

/** @import { Client, ConnectOptions } from "mcparley/client" */
/** @import { Tally } from "./tally.mjs" */

/** The server that visitors use, and the tally that counts their calls. @typedef {{ url: string, port: number, tally: Tally }} Place */
/** @typedef {(place: Place) => Promise<void>} Visit */

const legacy = "2025-11-25";
const program = path.join(import.meta.dirname, "serve.mjs");
const question = { text: "x".repeat(200) };
const decline = { action: /** @type {const} */ ("decline") };
const accept = () => ({ action: /** @type {const} */ ("accept"), content: { colour: "green" } });

/** Connects, calls and leaves as one should. @param {ConnectOptions["revision"]} revision @returns {Visit} */
const politely =
  (revision = "auto") =>
  ({ url, tally }) =>
    using({ url, tally }, { revision }, async (client) => {
      for (let time = 0; time < 5; time++) {
        const said = await tally.serve("echo", client.callTool("echo", question));
        if (said !== question.text) throw new Error("The echo differs from the text.");
      }
      await tally.serve("list", client.listTools().all());
      const trip = { type: /** @type {const} */ ("ref/prompt"), name: "trip" };
      const { values } = await tally.serve("complete", client.complete(trip, { name: "city", value: "b" }));
      if (values.join() !== "Berlin,Bern") throw new Error(`The completions are ${values.join()}.`);
      await expectFailure(tally.watch("fail", client.callTool("fail")));
    });

/** Cancels a call. @param {string} revision @returns {Visit} */
const cancelling =
  (revision) =>
  ({ url, tally }) =>
    using({ url, tally }, { revision }, async (client) => {
      const call = tally.watch("wait", client.callTool("wait", {}, { signal: AbortSignal.timeout(50) }));
      await expectFailure(call);
      await tally.serve("echo", client.callTool("echo", question));
    });

/** Leaves while a call is under way. @param {string} revision @returns {Visit} */
const leaving =
  (revision) =>
  async ({ url, tally }) => {
    const client = await reach({ url, tally }, { revision });
    const call = expectFailure(tally.watch("wait", client.callTool("wait")));
    await pause(30);
    await client.close();
    await call;
  };

/** Is asked a question, and answers it. @param {string} revision @returns {Visit} */
const answering =
  (revision) =>
  ({ url, tally }) => {
    return using({ url, tally }, { revision, elicit: accept }, async (client) => {
      const said = await tally.serve("ask", client.callTool("ask"));
      if (said !== "You said green.") throw new Error(`The tool returned ${JSON.stringify(said)}.`);
    });
  };

/** Is asked a question, and goes away. @param {string} revision @returns {Visit} */
const unanswering =
  (revision) =>
  async ({ url, tally }) => {
    /** @type {((asked: true) => void) | undefined} */
    let onAsked;
    const asked = new Promise((resolve) => (onAsked = resolve));
    const elicit = () => {
      onAsked?.(true);
      return pause(1_000, decline);
    };
    const client = await reach({ url, tally }, { revision, elicit });
    const call = expectFailure(tally.watch("ask", client.callTool("ask")));
    await Promise.race([asked, call]);
    await client.close();
    await call;
  };

/** Listens for changes, makes one, and leaves. @param {string} revision @returns {Visit} */
const listening =
  (revision) =>
  ({ url, tally }) =>
    using({ url, tally }, { revision }, async (client) => {
      const subscription = await tally.serve(
        "listen",
        client.listen({ tools: true }, () => {}),
      );
      await tally.serve("change", client.callTool("change"));
      await pause(100);
      await tally.watch("unlisten", subscription.close());
    });

/** Has a server of its own, on stdio, and ends it as one should. @type {Visit} */
const onStdio = async ({ tally }) => {
  const client = await connect({ command: process.execPath, args: [program] });
  try {
    for (let time = 0; time < 20; time++) await tally.watch("echo on stdio", client.callTool("echo", question));
    await expectFailure(tally.watch("wait on stdio", client.callTool("wait", {}, { signal: AbortSignal.timeout(20) })));
  } finally {
    await client.close();
  }
};

/** Has a server on stdio, and leaves while a call is under way. @type {Visit} */
const leavingStdio = async ({ tally }) => {
  const client = await connect({ command: process.execPath, args: [program] });
  const call = expectFailure(tally.watch("wait on stdio", client.callTool("wait")));
  await client.close();
  await call;
};

/** Every kind of visit with our client, with how often it comes among a hundred. @type {readonly [string, number, Visit][]} */
export const visitors = [
  ["polite, modern", 10, politely()],
  ["polite, in a session", 10, politely(legacy)],
  ["cancels, modern", 5, cancelling("2026-07-28")],
  ["cancels, in a session", 5, cancelling(legacy)],
  ["leaves, modern", 5, leaving("2026-07-28")],
  ["leaves, in a session", 5, leaving(legacy)],
  ["answers, modern", 4, answering("2026-07-28")],
  ["answers, in a session", 4, answering(legacy)],
  ["does not answer, modern", 3, unanswering("2026-07-28")],
  ["does not answer, in a session", 3, unanswering(legacy)],
  ["listens, modern", 4, listening("2026-07-28")],
  ["listens, in a session", 4, listening(legacy)],
  ["stdio", 1, onStdio],
  ["leaves stdio", 1, leavingStdio],
];

/** Connects over HTTP, and counts refusals. @param {Pick<Place, "url" | "tally">} place @param {ConnectOptions} options @returns {Promise<Client>} */
function reach({ url, tally }, options) {
  return tally.serve("connect", connect({ url, fetch: tally.fetch }, options));
}

/** @param {Pick<Place, "url" | "tally">} place @param {ConnectOptions} options @param {(client: Client) => Promise<void>} work */
async function using(place, options, work) {
  const client = await reach(place, options);
  try {
    await work(client);
  } finally {
    await client.close();
  }
}

/** @param {Promise<unknown>} call */
function expectFailure(call) {
  return call.then(
    () => {
      throw new Error("A call succeeded that must fail.");
    },
    () => {},
  );
}
