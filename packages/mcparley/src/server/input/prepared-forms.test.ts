import { describe, expect, test } from "vitest";
import { z } from "zod";
import { openPeer } from "mcparley-tests/support/raw-peer.ts";
import type { Schema } from "../../schema/standard-schema.ts";
import { coreOf, createServer } from "../create-server.ts";
import { tool } from "../definition.ts";
import { elicitRequest } from "./elicit.ts";

/** Returns a function that sends a form, declines it, and returns the schema that the client received. */
async function asking(schemaOf: (call: number) => Schema) {
  let calls = 0;
  const ask = tool({
    call: async (_, ctx) => {
      const schema = schemaOf(++calls);
      await ctx.elicit({ message: "?", schema }).catch(() => {});
      (schema as { properties?: object }).properties = {};
      return "";
    },
  });
  const peer = await openPeer(createServer({ name: "x", version: "1", tools: { ask } }), "2025-11-25", {
    elicitation: {},
  });
  return async () => {
    const id = peer.start("tools/call", { name: "ask" });
    const request = await peer.nextRequest("elicitation/create");
    peer.answer(request, { action: "decline" });
    await peer.response(id);
    return request.params.requestedSchema as object;
  };
}

const core = coreOf(createServer({ name: "x", version: "1" }));

/** Returns the form of a question, which has a copy in each message. */
const formOf = (schema: Schema): unknown => elicitRequest(core, { message: "?", schema }).params.requestedSchema;

const literal = (name: string): Schema => ({ type: "object", properties: { [name]: { type: "string" } } });

describe("a form is prepared once", () => {
  test("for a schema that is made outside of the handler", () => {
    const schema = z.object({ a: z.string() });
    expect(formOf(schema)).toBe(formOf(schema));
  });

  test("for a JSON Schema that each call writes anew, although the handler changes the object afterwards", async () => {
    const ask = await asking(() => literal("same"));
    const first = await ask();
    expect(first).toEqual({ type: "object", properties: { same: { type: "string" } } });
    expect(await ask()).toEqual(first);
    expect(formOf(literal("same"))).toBe(formOf(literal("same")));
  });
});

test("each of several JSON Schemas has its own form, and the oldest of more than 100 is made again", () => {
  const forms = Array.from({ length: 100 }, (_, index) => formOf(literal(`field${index}`)));
  expect(forms[42]).toMatchObject({ properties: { field42: {} } });
  formOf(literal("field100"));
  expect(formOf(literal("field1"))).toBe(forms[1]);
  const again = formOf(literal("field0"));
  expect(again).toEqual(forms[0]);
  expect(again).not.toBe(forms[0]);
});

test("a client in the same process cannot change the form of later calls", async () => {
  const schema = z.object({ a: z.string() });
  const ask = await asking(() => schema);
  const form = (await ask()) as any;
  for (const change of [() => (form.required = []), () => (form.properties.b = {}), () => (form.properties.a.x = 1)])
    change();
  expect(await ask()).toEqual({ type: "object", properties: { a: { type: "string" } }, required: ["a"] });
});
