// @ts-check
import { tolerant } from "./reader.mjs";

/** @import { Reader } from "./reader.mjs" */

/** The readers of the members of requests and results. @type {readonly Reader[]} */
export const contentReaders = [
  {
    name: "cursor",
    load: async () => tolerant((await import("../../packages/mcparley/src/server/features/lists.ts")).readPosition),
    around: [{}, { head: "YWZ0ZXI6" }],
  },
  {
    name: "requestState",
    load: async () => {
      const { sealOf } = await import("../../packages/mcparley/src/server/input/sealed-state.ts");
      const { coreOf, createServer } = await import("../../packages/mcparley/src/server/create-server.ts");
      const server = createServer({ name: "a", version: "1.0.0", stateKeys: [new Uint8Array(32)] });
      const seal = sealOf(coreOf(server));
      return (text) => seal.open(text, () => Promise.resolve("")).catch((/** @type {unknown} */ error) => error);
    },
  },
  {
    name: "keys of _meta",
    load: async () => (await import("../../packages/mcparley/src/mcp/methods.ts")).isMetaKey,
  },
  {
    name: "URL of an elicitation",
    load: async () => (await import("../../packages/mcparley/src/mcp/checks/safe-url.ts")).findUnsafe,
    around: [{}, { head: "https://" }, { head: "https://a/" }, { head: "https://a@" }, { head: "https://[" }],
  },
  {
    name: "content blocks",
    load: async () => {
      const { readContent } = await import("../../packages/mcparley/src/mcp/read-content.ts");
      return (text) =>
        readContent([
          { type: text, [text]: text },
          { type: "image", data: text, mimeType: text },
        ]);
    },
  },
  {
    name: "names of skills and their URIs",
    load: async () => {
      const { isInside, isPlainPath, quotePath, rootOf } =
        await import("../../packages/mcparley/src/extensions/skills/skill-entry.ts");
      return tolerant((text) => [rootOf(text), isPlainPath(text), isInside("skill://a", text), quotePath(text)]);
    },
    around: [{}, { head: "skill://a/" }, { head: "skill://", tail: "/SKILL.md" }],
  },
  {
    name: "front matter",
    load: async () =>
      tolerant(
        (await import("../../packages/mcparley/src/extensions/skills/front-matter/front-matter.ts")).readFrontMatter,
      ),
    around: [{}, { head: "---\n" }, { head: "---\na: ", tail: "\n---\n" }, { head: "---\na: b\n---\n" }],
  },
  {
    name: "completion",
    load: async () => {
      const { readCompleteParams } = await import("../../packages/mcparley/src/mcp/completion.ts");
      return tolerant((text) =>
        readCompleteParams({ ref: { type: "ref/prompt", name: text }, argument: { name: text, value: text } }, 16_384),
      );
    },
  },
];
