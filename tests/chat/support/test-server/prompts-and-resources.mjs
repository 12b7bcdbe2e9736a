// @ts-check
import { prompt, resource } from "mcparley/server";
import { hostileText } from "./hostile.mjs";

/** @import { Prompt, Resource } from "mcparley/server" */
/** @import { Log, State } from "./tools.mjs" */

const languages = ["C", "C++", "Go", "JavaScript", "Python", "Rust", "TypeScript"];

/** @returns {Record<string, Prompt>} */
export function prompts() {
  return {
    review: prompt({
      title: "Review of code",
      description: "Reviews code.",
      arguments: {
        code: { required: true, description: "The code" },
        language: {
          description: "The language of the code",
          complete: (typed) => languages.filter((one) => one.toLowerCase().startsWith(typed.toLowerCase())),
        },
      },
      get: ({ code, language = "unknown" }) => `Review this code in the language ${language}:\n${code}`,
    }),
    plain: prompt({ description: "A prompt without arguments.", get: () => "The text of the plain prompt." }),
    hostile_prompt: prompt({ description: "A prompt with hostile text.", get: () => `prompt ${hostileText}` }),
  };
}

/** The months of the notes, by year. @type {Readonly<Record<string, readonly string[]>>} */
const months = { 2024: ["11", "12"], 2025: ["01", "02", "03"], 2026: ["07"] };

/** @param {Log} log @param {State} state @returns {Record<string, Resource<any>>} */
export function resources(log, state) {
  const read = (/** @type {string} */ body) => (/** @type {unknown} */ _, /** @type {{ uri: string }} */ ctx) => {
    log("read", { uri: ctx.uri });
    return body;
  };
  return {
    today: resource("note://today", {
      title: "The note of today",
      mimeType: "text/plain",
      read: read("Buy milk today."),
    }),
    counter: resource("counter://value", { mimeType: "text/plain", read: () => `The counter is ${state.counter}.` }),
    cancelled: resource("calls://cancelled", { mimeType: "text/plain", read: () => `${state.cancelled} cancelled` }),
    hostile_note: resource("note://hostile", { mimeType: "text/plain", read: read(`note ${hostileText}`) }),
    month: resource("note://{year}/{month}", {
      title: "The notes of a month",
      mimeType: "text/plain",
      complete: {
        year: Object.keys(months),
        month: (typed, { year = "" }) => (months[year] ?? []).filter((month) => month.startsWith(typed)),
      },
      read: ({ year, month }) => `The notes of ${month}/${year}.`,
    }),
  };
}
