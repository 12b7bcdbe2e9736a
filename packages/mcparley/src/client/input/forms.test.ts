import { expect, test } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import type { Client } from "../client.ts";
import { openClient } from "../open-client.ts";
import type { ConnectOptions } from "../options.ts";

const text = (value: string): JsonObject => ({ content: [{ type: "text", text: value }] });
const form = {
  message: "who?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};
const elicitation = (params: JsonObject): JsonObject => ({ method: "elicitation/create", params });
const asks = (inputRequests: JsonObject): JsonObject => ({ resultType: "input_required", inputRequests });

interface Connected {
  peer: ReturnType<typeof modernPeer>;
  client: Client;
  errors: Error[];
}

async function modern(options: ConnectOptions): Promise<Connected> {
  const errors: Error[] = [];
  const peer = modernPeer();
  const given = { onError: (error: Error) => errors.push(error), ...options };
  return { peer, errors, client: await openClient(peerTransports(peer), given) };
}

async function legacy(options: ConnectOptions): Promise<Connected> {
  const errors: Error[] = [];
  const peer = legacyPeer();
  const given = { revision: "2025-11-25", onError: (error: Error) => errors.push(error), ...options };
  const client = await openClient(peerTransports(peer), given);
  await peer.notification("notifications/initialized");
  return { peer, client, errors };
}

/** Sends the client a request, and returns its response. */
async function reply({ peer }: Connected, method: string, params: JsonObject): Promise<JsonObject> {
  peer.ask(1, method, params);
  return { ...(await peer.next()) };
}

test.each<[string, JsonObject, string]>([
  [
    "a required name without a property",
    { type: "object", properties: { a: { type: "string" } }, required: ["b"] },
    'The property "b" is required, and the schema does not define it.',
  ],
  [
    "a nested field",
    { type: "object", properties: { address: { type: "object", properties: {} } } },
    'The property "address" cannot be a field of a form.',
  ],
  [
    "a missing definition",
    { type: "object", properties: { color: { $ref: "#/$defs/Color" } } },
    "params.requestedSchema cannot be used: ",
  ],
])("a form that cannot be answered is refused with the reason before the user is asked: %s", async (_, schema, why) => {
  const params = { message: "?", requestedSchema: schema };
  const old = await legacy({ elicit: () => expect.fail("asked") });
  const { error } = await reply(old, "elicitation/create", params);
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(why) as string });
  const { client, peer } = await modern({ elicit: () => expect.fail("asked") });
  const call = client.callTool("t");
  peer.answer(await peer.request("tools/call"), asks({ a: elicitation(params) }));
  await expect(call).rejects.toMatchObject({
    code: "invalid_message",
    message: expect.stringContaining(why) as string,
  });
});

test("the user is asked for a form without references, and the answer is checked against the original", async () => {
  const requestedSchema = {
    type: "object",
    properties: { color: { $ref: "#/$defs/Color" }, agreed: { const: true, default: true } },
    required: ["color", "agreed"],
    $defs: { Color: { enum: ["red", "green"], default: "red" } },
  };
  let content: Record<string, string | boolean> = {};
  const shown: unknown[] = [];
  const connected = await legacy({
    elicit: (params) => {
      shown.push("requestedSchema" in params && params.requestedSchema.properties);
      return { action: "accept", content };
    },
  });
  const answer = async (): Promise<unknown> =>
    reply(connected, "elicitation/create", { message: "?", requestedSchema });
  expect(await answer()).toMatchObject({ result: { content: { color: "red", agreed: true } } });
  expect(shown[0]).toEqual({
    color: { type: "string", enum: ["red", "green"], default: "red" },
    agreed: { type: "boolean", default: true },
  });
  content = { agreed: false };
  expect(await answer()).toMatchObject({ error: { code: -32603 } });
});

test.each(["legacy", "modern"])(
  "members that a form does not ask for are not sent, and are reported: %s",
  async (kind) => {
    const content = { name: "Ann", nested: { x: 1 }, role: "admin", toString: "x" } as unknown as Record<
      string,
      string
    >;
    const problems: unknown[] = [];
    const options: ConnectOptions = {
      elicit: (_, { check }) => {
        problems.push(...(check?.(content) ?? []));
        return { action: "accept", content };
      },
    };
    const expected = { action: "accept", content: { name: "Ann" } };
    const connected = await (kind === "legacy" ? legacy(options) : modern(options));
    if (kind === "legacy") expect((await reply(connected, "elicitation/create", form)).result).toEqual(expected);
    else {
      const call = connected.client.callTool("t");
      connected.peer.answer(await connected.peer.request("tools/call"), asks({ a: elicitation(form) }));
      const second = await connected.peer.request("tools/call");
      expect(second.params?.inputResponses).toEqual({ a: expected });
      connected.peer.answer(second, text("done"));
      await call;
    }
    expect(problems).toEqual([]);
    expect(connected.errors).toMatchObject([
      { code: "invalid_result", message: expect.stringContaining('"nested", "role", "toString"') as string },
    ]);
  },
);

test("a value of an asked member that is nested is not sent", async () => {
  const content = { name: { first: "Ann" } } as unknown as Record<string, string>;
  const connected = await legacy({ elicit: () => ({ action: "accept", content }) });
  expect(await reply(connected, "elicitation/create", form)).toMatchObject({ error: { code: -32603 } });
});
