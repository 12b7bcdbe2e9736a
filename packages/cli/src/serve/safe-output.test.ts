import { connect } from "mcparley/client";
import { expect, onTestFinished, test } from "vitest";
import { runServe } from "./serve.ts";
import { fakeIo } from "../commands/testing/fake-io.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const hostile = "\u001b[2J\u009b31m\u007f\u202e\u200b\u{e0061}";
// oxlint-disable-next-line no-control-regex -- these are what must not appear
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e\u200b\u{e0061}]/u;

const breaks = `import { tool } from "mcparley/server";
export default tool({
  input: { type: "object", properties: { text: { type: "string" } } },
  call: ({ text }) => { throw new Error("Cannot find " + text); },
});
`;

test("text of a caller in errors and audit records cannot control the terminal", async () => {
  const io = fakeIo({ cwd: await temporaryFolder({ "tools/breaks.ts": breaks }) });
  const ended = runServe([".", "--port", "0", "--no-watch", "--audit"], io);
  await io.seen("Press Ctrl-C to stop.");
  const info = { name: `client ${hostile}`, version: "1" };
  const client = await connect(/http:\/\/\S+/.exec(io.out())![0], { info });
  onTestFinished(() => client.close());
  await client.callTool("breaks", { text: hostile }).catch(() => {});
  await client.callTool(`unknown ${hostile}`).catch(() => {});
  await io.seen("Cannot find \\x1b[2J\\x9b31m\\x7f\\u{202e}");
  await io.seen('"name":"unknown');
  expect(io.err()).not.toMatch(steering);
  expect(io.err()).toContain('"client":"client \\u001b[2J\\u009b31m\\u007f\\u202e\\u200b');
  await client.close();
  io.pressCtrlC();
  expect(await ended).toBe(0);
});
