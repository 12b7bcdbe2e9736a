// @ts-check
import { telemetry } from "mcparley/otel";
import { createServer, logTo, prompt, tool } from "mcparley/server";

/** Counts the words of a text, and reports progress. */
const countWords = tool({
  description: "Count the words of a text.",
  input: {
    type: "object",
    properties: { text: { type: "string", maxLength: 100_000 } },
    required: ["text"],
    additionalProperties: false,
  },
  call: ({ text }, ctx) => {
    const words = text.split(/\s+/).filter(Boolean).length;
    ctx.progress(1, 1, "counted");
    return `${words} words`;
  },
});

const summarize = prompt({
  description: "Summarize a text.",
  arguments: { text: { description: "The text", required: true } },
  get: ({ text }) => `Summarize this in one sentence:\n\n${text}`,
});

/**
 * @typedef {object} Settings
 * @property {import("mcparley/server").StructuredLogger} logger
 * @property {import("@opentelemetry/api").MeterProvider | undefined} meterProvider
 * @property {readonly Uint8Array[] | undefined} stateKeys
 * @property {import("mcparley/server").Store | undefined} store
 */

/** Creates the server. Every process serves the same definition. @param {Settings} settings */
export function makeServer({ logger, meterProvider, stateKeys, store }) {
  return createServer({
    name: "deployed",
    version: "1.0.0",
    tools: { count_words: countWords },
    prompts: { summarize },
    observers: [logTo(logger), ...(meterProvider ? [telemetry({ meterProvider })] : [])],
    ...(store && { store }),
    ...(stateKeys && { stateKeys }),
  });
}
