import assert from "node:assert/strict";
import { after, test } from "node:test";
import { connect } from "mcparley/client";
import { server } from "./server.ts";

const client = await connect<typeof server>(server);
after(() => client.close());

test("a note that was added can be read", async () => {
  const uri = await client.tools.add_note({ title: "milk", text: "Buy milk." });
  const { contents } = await client.readResource(uri);
  assert.equal(contents[0] && "text" in contents[0] ? contents[0].text : undefined, "Buy milk.");
});

test("a title can be used once", async () => {
  await assert.rejects(client.tools.add_note({ title: "welcome", text: "Hello" }), /exists/);
});

test("the prompt contains the note", async () => {
  const { messages } = await client.getPrompt("summarize", { title: "welcome" });
  assert.match(JSON.stringify(messages), /This note is a resource/);
});
