import { expect, test } from "vitest";
import { openChat } from "./support/chat.ts";
import { failWith, say, toolCall } from "./support/model-endpoint.ts";
import { type HttpTestServer, type StdioTestServer, httpTestServer, stdioTestServer } from "./support/test-server.ts";

const question = "[v]iew?";
const servers: readonly (readonly [string, () => StdioTestServer | Promise<HttpTestServer>])[] = [
  ["stdio, 2026-07-28", () => stdioTestServer({ revision: "2026-07-28" })],
  ["HTTP, 2025-11-25", () => httpTestServer({ revision: "2025-11-25" })],
];

/** Returns the texts that the server has received from the model. */
function sampled(server: StdioTestServer | HttpTestServer): unknown[] {
  return server.events().flatMap(({ event, content }) => (event === "sampled" ? [content] : []));
}

test.each(servers)("shows the request before and the answer after the model runs, over %s", async (_, open) => {
  const server = await open();
  const { terminal, requests, send, answer } = await openChat({ server, script: [say("Blue.")] });
  await send('/call ask_model question="Which colour?"');
  await terminal.waitFor("asks to run your model");
  await terminal.waitFor(question);
  const before = terminal.screen();
  expect(before).toContain("at most 50 for the answer");
  expect(before).toContain("  │ Answer in one word.");
  expect(before).toContain("  │ Which colour?");
  expect(requests).toEqual([]);
  await answer(question, "y");
  await terminal.waitFor("Send it to the server?");
  expect(terminal.screen()).toContain("  │ Blue.");
  expect(sampled(server)).toEqual([]);
  await answer(question, "y");
  await terminal.waitFor("the model answered");
  expect(sampled(server)).toEqual([{ type: "text", text: "Blue." }]);
  expect(requests[0]?.tools).toEqual([]);
  expect(requests[0]?.messages).toMatchObject([
    { role: "system", content: expect.stringContaining("Answer in one word.") },
    { role: "user", content: expect.stringContaining("Which colour?") },
  ]);
});

test("edits the request and the answer", async () => {
  const server = stdioTestServer();
  const { terminal, requests, send, answer } = await openChat({ server, rows: 60, script: [say("Blue.")] });
  await send('/call ask_model question="Which colour?"');
  await answer(question, "e");
  // The system prompt and each message are offered in turn.
  await terminal.waitForCursor("Answer in one word.");
  terminal.key("enter");
  await terminal.waitForCursor("Which colour?");
  terminal.key("ctrl-u");
  await terminal.waitFor(() => !terminal.cursor().line.endsWith("Which colour?"));
  await terminal.type("Which day?");
  terminal.key("enter");
  await terminal.waitFor("The request is now:");
  await answer(question, "y");
  await terminal.waitFor("Send it to the server?");
  expect(JSON.stringify(requests[0]?.messages)).toContain("Which day?");
  expect(JSON.stringify(requests[0]?.messages)).not.toContain("Which colour?");
  await answer(question, "e");
  await terminal.waitForCursor("Blue.");
  terminal.key("ctrl-u");
  await terminal.waitFor(() => !terminal.cursor().line.endsWith("Blue."));
  await terminal.type("Monday.");
  terminal.key("enter");
  await terminal.waitFor("The answer is now:");
  await answer(question, "y");
  await terminal.waitFor("the model answered");
  expect(sampled(server)).toEqual([{ type: "text", text: "Monday." }]);
});

test("runs nothing after a no, and sends nothing after a second no", async () => {
  const server = stdioTestServer();
  const { terminal, requests, send, answer, refused, idle } = await openChat({ server, script: [say("Blue.")] });
  await send('/call ask_model question="Which colour?"');
  await answer(question, "n");
  await refused("The user has not allowed the request of the sampling.");
  expect(requests).toEqual([]);
  await send('/call ask_model question="Which colour?"');
  await answer(question, "y");
  await terminal.waitFor("Send it to the server?");
  await answer(question, "n");
  await idle();
  expect(sampled(server)).toEqual([]);
});

test.each(servers)("lets the user write the answer without a model, over %s", async (_, open) => {
  const server = await open();
  const { terminal, send, answer } = await openChat({ server });
  await send('/call ask_model question="Which colour?"');
  await terminal.waitFor("asks for an answer of a model, and there is none");
  await answer(question, "y");
  await terminal.waitFor("Write the answer in place of a model.");
  await answer("Answer:", "Green,\nI think.");
  await terminal.waitFor("the model answered");
  expect(sampled(server)).toEqual([{ type: "text", text: "Green,\nI think." }]);
});

test("samples during a call of the model, and continues its turn", async () => {
  const server = stdioTestServer();
  const { terminal, requests, send, answer } = await openChat({
    server,
    script: [say(toolCall("server__ask_model", { question: "Which colour?" })), say("Blue."), say("The sky is blue.")],
  });
  await send("Ask it");
  await answer(question, "y");
  await terminal.waitFor("asks to run your model");
  await answer(question, "y");
  await terminal.waitFor("Send it to the server?");
  await answer(question, "y");
  await terminal.waitFor("The sky is blue.");
  expect(JSON.stringify(requests[2]?.messages)).toContain("the model answered");
});

test("tells the server that the model has failed", async () => {
  const server = stdioTestServer();
  const { terminal, send, answer, idle } = await openChat({ server, script: () => failWith(400, "No such model.") });
  await send('/call ask_model question="Which colour?"');
  await answer(question, "y");
  await idle();
  expect(terminal.history()).not.toContain("Send it to the server?");
  expect(sampled(server)).toEqual([]);
});
