// @ts-check
import { chunk } from "./reader.mjs";

/** @import { Reader } from "./reader.mjs" */

/** Bytes of a text for a terminal. The width of each character is measured, which takes about a microsecond. */
const terminal = { maxBytes: 1_048_576 };
/** @param {string} text */
const plain = (text) => text;
/** A view of a terminal with 80 columns and without colours. */
const view = {
  terminal: true,
  width: 80,
  style: { bold: plain, dim: plain, red: plain, yellow: plain, inverse: plain },
};

/** The readers of the command. @type {readonly Reader[]} */
export const commandReaders = [
  {
    name: "command: visibleLine",
    load: async () => (await import("../../packages/cli/src/terminal/text.ts")).visibleLine,
  },
  {
    name: "command: wrap",
    ...terminal,
    load: async () => {
      const { cut, widthOf, wrap } = await import("../../packages/cli/src/terminal/text.ts");
      return (text) => [wrap(text, 80), cut(text, 80), widthOf(text)];
    },
    around: [{}, { head: "- " }],
  },
  {
    name: "command: serverLines",
    ...terminal,
    load: async () => {
      const { excerpt, exactLines, gutter, quoteName, serverLines, shortLine } =
        await import("../../packages/cli/src/terminal/questions/server-text.ts");
      return (text) => [
        excerpt(serverLines(text, view), view),
        excerpt(exactLines(text, view, gutter), view),
        quoteName(text),
        shortLine(text),
      ];
    },
  },
  {
    name: "command: JSON in a question",
    ...terminal,
    load: async () => {
      const { shortJson, wholeJson } = await import("../../packages/cli/src/chat/dialogs/json-text.ts");
      return (text) => [shortJson(text, view), wholeJson(text, view)];
    },
  },
  {
    name: "command: paragraph",
    ...terminal,
    load: async () => {
      const { paragraph } = await import("../../packages/cli/src/terminal/screen.ts");
      return (text) => paragraph(text, view);
    },
  },
  {
    name: "command: content of a result",
    ...terminal,
    load: async () => {
      const { showContent, showJson } = await import("../../packages/cli/src/terminal/show-content.ts");
      return (text) => [showContent({ type: "text", text }, view), showJson({ a: text }, view)];
    },
  },
  {
    name: "command: list of tools",
    ...terminal,
    load: async () => {
      const { showToolLines } = await import("../../packages/cli/src/commands/output/show-list.ts");
      return (text) => showToolLines([{ name: text, description: text, inputSchema: { type: "object" } }], view);
    },
  },
  {
    name: "command: mentions",
    ...terminal,
    load: async () => {
      const { findMentions, otherNames, replaceMentions, unescapeMentions } =
        await import("../../packages/cli/src/chat/session/mentions.ts");
      const known = /** @type {any} */ ({ catalogue: { templates: [], resources: [] }, servers: new Map([["a", 1]]) });
      return (text) => [
        findMentions(text, known),
        otherNames(text, known),
        replaceMentions(text, known, () => undefined),
        unescapeMentions(text),
      ];
    },
  },
  {
    name: "command: transcript in Markdown",
    ...terminal,
    load: async () => {
      const { toMarkdown } = await import("../../packages/cli/src/chat/history/transcript.ts");
      const meta = { id: "a", title: "b", model: "c", servers: ["a"], savedAt: 0 };
      return (text) => {
        const from = { server: "a", name: text };
        const content = [{ type: "text", text, from }];
        const messages = [
          { role: "user", content: text },
          { role: "tool", content: [{ type: "tool-result", callId: "1", name: text, content, isError: false }] },
        ];
        return toMarkdown(/** @type {any} */ (messages), meta);
      };
    },
  },
  {
    name: "command: result in the chat",
    ...terminal,
    load: async () => {
      const { callLine, showResult } = await import("../../packages/cli/src/chat/session/show-message.ts");
      return (text) => {
        showResult(
          /** @type {any} */ ({ text, remarks: [text], files: [], isError: false }),
          /** @type {any} */ ({ terminal: { print() {} }, view }),
        );
        return callLine("a", { a: text });
      };
    },
  },
  {
    name: "command: answer of a model",
    ...terminal,
    load: async () => {
      const { answerOutput } = await import("../../packages/cli/src/chat/script/answer-output.ts");
      return async (text) => {
        const output = answerOutput({ out: view, print: () => Promise.resolve() });
        await output.write(text);
        await output.endText();
      };
    },
  },
  {
    name: "command: hint for a program",
    load: async () => {
      const { programHint } = await import("../../packages/cli/src/commands/connection/program-hint.ts");
      const { LocalError } = await import("mcparley");
      return (text) =>
        programHint(new LocalError("exited", "a", { data: { exitCode: 1, stderr: text.slice(-8_192) } }), {
          output: text,
          hiddenVariables: ["A_B"],
        });
    },
  },
  {
    name: "command: output of a program",
    ...chunk,
    load: async () => {
      const { programOutput } = await import("../../packages/cli/src/commands/connection/program-output.ts");
      return (text) => {
        const output = programOutput({ note() {}, err: view }, { isLive: true });
        output.write(text);
        return output.tail();
      };
    },
  },
  {
    name: "command: URL in a question",
    ...terminal,
    load: async () => {
      const { highlightHost } = await import("../../packages/cli/src/terminal/questions/ask-url.ts");
      return (text) => highlightHost(text, view.style);
    },
    around: [{}, { head: "https://" }],
  },
  {
    name: "command: rows of an input",
    ...terminal,
    load: async () => {
      const { inputRows } = await import("../../packages/cli/src/terminal/interactive/input-rows.ts");
      return (text) => inputRows({ prompt: "> ", text, cursor: text.length }, 80, 10);
    },
  },
];
