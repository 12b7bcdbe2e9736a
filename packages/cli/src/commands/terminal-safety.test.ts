import { ProtocolError, ToolError } from "mcparley";
import { createServer, prompt, resource, tool, toolResult } from "mcparley/server";
import { describe, expect, test } from "vitest";
import { runWith } from "./testing/fake-io.ts";

/** Clears the screen, sets colours with C0 and C1 sequences, deletes, reorders and hides text. */
const hostile = "\u001b[2J\u001b[31m\u009b31m\u007f\u202e\u200b\u3164\u{e0061}";
const shown = "\\x1b[2J\\x1b[31m\\x9b31m\\x7f\\u{202e}\\u{200b}\\u{3164}\\u{e0061}";
// oxlint-disable-next-line no-control-regex -- these are what must not appear
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e\u200b\u3164\u{e0061}]/u;
const url = "http://127.0.0.1:1/mcp";

const server = createServer({
  name: "hostile",
  title: `Title ${hostile}`,
  version: `1${hostile}`,
  instructions: hostile,
  tools: {
    text: tool({ title: hostile, description: hostile, call: () => hostile }),
    embedded: tool({
      call: () =>
        toolResult({
          content: [
            { type: "resource", resource: { uri: "note://a", mimeType: `a/${hostile}`, text: `In ${hostile}` } },
          ],
        }),
    }),
    linked: tool({
      call: () =>
        toolResult({
          content: [{ type: "resource_link", uri: "note://a", name: `Name ${hostile}`, description: hostile }],
        }),
    }),
    structured: tool({ call: () => toolResult({ content: [], structuredContent: { [hostile]: hostile } }) }),
    fails: tool({
      call: () => {
        throw new ToolError(hostile);
      },
    }),
    refuses: tool({
      call: () => {
        throw new ProtocolError(-32000, hostile, { data: hostile });
      },
    }),
    logs: tool({
      call: (_input, ctx) => {
        ctx.log.warning(hostile);
        ctx.progress(1, 2, hostile);
        return "done";
      },
    }),
    asks: tool({
      call: async (_input, ctx) => {
        const schema = { type: "object", properties: { a: { type: "string", title: hostile, default: hostile } } };
        return JSON.stringify(await ctx.elicit({ message: hostile, schema }));
      },
    }),
  },
  prompts: { p: prompt({ description: hostile, get: () => hostile }) },
  resources: { r: resource("note://r", { title: hostile, read: () => hostile }) },
});

/** What a command writes to a terminal without colours, apart from its line of progress. */
async function written(line: string, answers: string[] = []): Promise<string> {
  const { io } = await runWith({ server, terminal: true, env: { NO_COLOR: "1" }, answers }, line);
  return `${io.out()}${io.err()}`.replaceAll("\r\u001b[2K", "");
}

describe("text of a server cannot control the terminal", () => {
  test.each([
    ["in lists", `list ${url}`],
    ["in a result", `call ${url} text`],
    ["in an embedded resource", `call ${url} embedded`],
    ["in a link", `call ${url} linked`],
    ["in an error of a tool", `call ${url} fails`],
    ["in an error of the protocol, and its causes", `call ${url} refuses --verbose`],
    ["in log messages and progress", `call ${url} logs`],
    ["in a prompt", `prompt ${url} p`],
    ["in a resource", `read ${url} note://r`],
    ["in a form", `call ${url} asks`, ["", "s"]],
  ])("%s", async (_where, line, answers: string[] = []) => {
    const text = await written(line, answers);
    expect(text).toContain(shown);
    expect(text).not.toMatch(steering);
  });

  test.each([
    ["in lists", `list ${url} --json`],
    ["in structured content", `call ${url} structured`],
    ["in a result", `call ${url} embedded --json`],
    ["in an error", `call ${url} refuses --json`],
  ])("in JSON %s, which stays valid", async (_where, line) => {
    const { io } = await runWith({ server, terminal: true, env: { NO_COLOR: "1" } }, line);
    expect(io.out()).not.toMatch(steering);
    expect(JSON.stringify(JSON.parse(io.out()))).toContain(JSON.stringify(hostile).slice(1, -1));
  });

  test("in the words of the command line that an error repeats", async () => {
    expect(await written(`call ${url} ${hostile}`)).not.toMatch(steering);
    expect(await written(`read ${url} note://${hostile}`)).not.toMatch(steering);
    expect(await written(`${hostile} ${url}`)).not.toMatch(steering);
  });
});

test("text for a pipe is not changed", async () => {
  const { io } = await runWith({ server }, `call ${url} text`);
  expect(io.out()).toBe(`${hostile}\n`);
});
