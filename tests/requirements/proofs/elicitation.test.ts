import { expect } from "vitest";
import {
  Cancelled,
  type ConnectOptions,
  Declined,
  type JsonObject,
  gate,
  inputRequired,
  prompt,
  resource,
  tool,
} from "../library.ts";
import { type BothSides, proves } from "../proves.ts";
import {
  elicitMethod,
  form,
  forms,
  formsAndUrls,
  never,
  person,
  telling,
  visit,
  visiting,
} from "../world/elicitations.ts";
import { isRequest } from "../../support/raw-message.ts";
import { offeredTo } from "../world/offers.ts";
import { ask, askedBy, askedByTool, expectRefused } from "../world/questions.ts";
import { asking, requested, textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

/** The schema in the elicitation of a handler that uses these properties. */
async function formOf(world: World, properties: JsonObject): Promise<Record<string, JsonObject>> {
  const elicits = tool({
    call: async (_, { elicit }) =>
      JSON.stringify(await elicit({ message: "?", schema: { type: "object", properties } })),
  });
  const peer = await world.serve({ tools: { elicits } }, { capabilities: forms });
  const { params } = await askedByTool(world, peer, "elicits");
  expect(params.requestedSchema).toMatchObject({ type: "object" });
  return (params.requestedSchema as JsonObject).properties as Record<string, JsonObject>;
}

proves("elicitation.capability.declared", async (world) => {
  const { server } = await world.connect({ elicit: () => ({ action: "decline" }) });
  expect(offeredTo(server)).toHaveProperty("elicitation");
});

proves("elicitation.capability.absent", async (world) => {
  const played = await world.connect();
  expect(offeredTo(played.server)).not.toHaveProperty("elicitation");
  expectRefused(await ask(world, played, elicitMethod, form), -32601);
});

proves("elicitation.capability.modes", async (world) => {
  const elicit = (): { action: "decline" } => ({ action: "decline" });
  expect(offeredTo((await world.connect({ elicit })).server).elicitation).toEqual({ form: {}, url: {} });
  for (const mode of ["form", "url"] as const) {
    const { server } = await world.connect({ elicit, elicitModes: [mode] });
    expect(offeredTo(server).elicitation).toEqual({ [mode]: {} });
  }
});

proves("elicitation.capability.empty", async (world) => {
  const peer = await world.serve({ tools: { asking, visiting } }, { capabilities: { elicitation: {} } });
  expect((await askedByTool(world, peer, "asking")).method).toBe(elicitMethod);
  expect((await peer.request("tools/call", { name: "visiting" })).error.message).toContain("elicitation.url");
});

proves("elicitation.capability.respected", async (world) => {
  const peer = await world.serve({ tools: { asking } }, { capabilities: { sampling: {}, roots: {} } });
  const { error } = await peer.request("tools/call", { name: "asking" });
  expect(error.message).toContain("elicitation");
  expect(peer.received.filter(isRequest)).toEqual([]);
});

proves("elicitation.mode.respected", async (world) => {
  for (const [mode, name] of [["form", "visiting"] as const, ["url", "asking"] as const]) {
    const peer = await world.serve({ tools: { asking, visiting } }, { capabilities: { elicitation: { [mode]: {} } } });
    const { error } = await peer.request("tools/call", { name });
    expect(error.data).toEqual({ requiredCapabilities: { elicitation: { [mode === "form" ? "url" : "form"]: {} } } });
    expect(peer.received.filter(isRequest)).toEqual([]);
  }
});

proves("elicitation.mode.refused", async (world) => {
  const formsOnly = await ask(world, await world.connect({ ...never, elicitModes: ["form"] }), elicitMethod, visit);
  expect(formsOnly.error?.code).toBe(-32602);
  const urlsOnly = await ask(world, await world.connect({ ...never, elicitModes: ["url"] }), elicitMethod, form);
  expect(urlsOnly.error?.code).toBe(-32602);
});

proves("elicitation.mode.omitted", async (world) => {
  const plain = tool({
    call: (_, { inputResponses }) =>
      inputResponses.who
        ? JSON.stringify(inputResponses.who)
        : inputRequired({ inputRequests: { who: { method: elicitMethod, params: form } } }),
  });
  const peer = await world.serve({ tools: { plain } }, { capabilities: forms });
  const asked = await askedByTool(world, peer, "plain");
  const { _meta, ...params } = asked.params;
  expect(params).toEqual(form);
  const given = { action: "accept", content: { name: "Ann" } };
  expect(JSON.parse(textOf(await asked.answer(given)))).toEqual(given);
});

proves("elicitation.mode.default", async (world) => {
  const seen: unknown[] = [];
  const played = await world.connect({
    elicitModes: ["form"],
    elicit: (question) => {
      seen.push(question);
      return { action: "accept", content: { name: "Ann" } };
    },
  });
  const { result } = await ask(world, played, elicitMethod, form);
  expect(result).toEqual({ action: "accept", content: { name: "Ann" } });
  expect(seen).toEqual([form]);
});

proves("elicitation.message", async (world) => {
  const peer = await world.serve({ tools: { asking } }, { capabilities: forms });
  expect((await askedByTool(world, peer, "asking")).params.message).toBe("Who are you?");
});

proves("elicitation.message.required", async (world) => {
  for (const message of [undefined, null, 7]) {
    expectRefused(await ask(world, await world.connect(never), elicitMethod, { ...form, message }), -32602);
  }
});

proves("elicitation.nested", async (world) => {
  const definition = {
    tools: { asking },
    prompts: {
      p: prompt({ get: async (_, { elicit }) => (await elicit({ message: "?", schema: person })).name }),
    },
    resources: {
      r: resource("r://1", {
        read: async (_, { elicit }) => (await elicit({ message: "?", schema: person })).name,
      }),
    },
  };
  for (const [name, params] of [
    ["tools/call", { name: "asking" }],
    ["prompts/get", { name: "p" }],
    ["resources/read", { uri: "r://1" }],
  ] as const) {
    const peer = await world.serve(definition, { capabilities: forms });
    const asked = await askedBy(world, peer, name, params);
    expect(asked.method).toBe(elicitMethod);
    const { result } = await asked.answer({ action: "accept", content: { name: "Ann" } });
    expect(JSON.stringify(result)).toContain("Ann");
  }
});

proves("elicitation.form.request", async (world) => {
  const peer = await world.serve({ tools: { asking } }, { capabilities: formsAndUrls });
  const { mode, requestedSchema } = (await askedByTool(world, peer, "asking")).params;
  expect(mode ?? "form").toBe("form");
  expect(requestedSchema).toEqual(person);
});

proves("elicitation.form.flat", async (world) => {
  for (const nested of [
    { type: "object", properties: { a: { type: "string" } } },
    { type: "array", items: { type: "object" } },
    { type: "null" },
  ]) {
    const schema = { type: "object", properties: { nested } } as const;
    const elicits = tool({ call: async (_, { elicit }) => JSON.stringify(await elicit({ message: "?", schema })) });
    const peer = await world.serve({ tools: { elicits } }, { capabilities: forms });
    const { result, error } = await peer.request("tools/call", { name: "elicits" });
    expect(error ?? result.isError).toBeTruthy();
    expect(peer.received.filter(isRequest)).toEqual([]);
    expect(result?.inputRequests).toBeUndefined();
  }
});

const texts = {
  name: { type: "string", title: "Name", description: "Yours.", minLength: 1, maxLength: 50 },
  mail: { type: "string", format: "email" },
  page: { type: "string", format: "uri" },
  day: { type: "string", format: "date" },
  time: { type: "string", format: "date-time" },
};

proves("elicitation.form.strings", async (world) => {
  expect(await formOf(world, texts)).toEqual(texts);
});

proves("elicitation.form.formats", async (world) => {
  const properties = { id: { type: "string", format: "uuid" }, host: { type: "string", format: "hostname" } };
  expect(await formOf(world, properties)).toEqual({ id: { type: "string" }, host: { type: "string" } });
});

const numbers = {
  share: { type: "number", title: "Share", description: "Of all.", minimum: 0, maximum: 1 },
  count: { type: "integer", minimum: 1, maximum: 9 },
};

proves("elicitation.form.numbers", async (world) => {
  expect(await formOf(world, numbers)).toEqual(numbers);
});

const answers = { sure: { type: "boolean", title: "Sure?", description: "Really.", default: false } };

proves("elicitation.form.booleans", async (world) => {
  expect(await formOf(world, answers)).toEqual(answers);
});

const colors = { type: "string", title: "Color", description: "The best.", enum: ["red", "green"] };
const titled = [
  { const: "r", title: "Red" },
  { const: "g", title: "Green" },
];

proves("elicitation.form.choice", async (world) => {
  expect(await formOf(world, { colors })).toEqual({ colors });
});

proves("elicitation.form.titled-choice", async (world) => {
  const properties = { color: { type: "string", oneOf: titled } };
  expect(await formOf(world, properties)).toEqual(properties);
});

proves("elicitation.form.named-choice", async (world) => {
  expect(await formOf(world, { color: { type: "string", oneOf: titled } })).toEqual({
    color: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
  });
});

const several = {
  plain: { type: "array", title: "Sizes", minItems: 1, maxItems: 2, items: { type: "string", enum: ["s", "m", "l"] } },
  titled: { type: "array", items: { anyOf: titled } },
};

proves("elicitation.form.sensitive", async (world) => {
  const warnings: string[] = [];
  const names = ["password", "dbPassword", "API_KEY", "card-number", "note"];
  const named = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  const properties = { ...named, plain: { type: "string", format: "password" }, tokenize: { type: "string" } };
  const elicits = tool({
    call: async (_, { elicit }) =>
      JSON.stringify(await elicit({ message: "?", schema: { type: "object", properties } })),
  });
  const peer = await world.serve(
    { tools: { elicits }, onWarning: (warning) => void warnings.push(warning) },
    { capabilities: forms },
  );
  for (let round = 0; round < 2; round++) {
    const asked = await askedByTool(world, peer, "elicits");
    await asked.answer({ action: "accept", content: {} });
  }
  const warned = warnings.map((warning) => /asks for "([^"]*)"/.exec(warning)?.[1]);
  expect(warned).toEqual(["password", "dbPassword", "API_KEY", "card-number", "plain"]);
});

proves("elicitation.form.choices", async (world) => {
  expect(await formOf(world, several)).toEqual(several);
});

proves("elicitation.form.older-fields", async (world) => {
  const schema = { type: "object", properties: { sizes: several.plain } };
  const elicits = tool({ call: async (_, { elicit }) => JSON.stringify(await elicit({ message: "?", schema })) });
  const peer = await world.serve({ tools: { elicits } }, { capabilities: forms });
  const asked = await askedByTool(world, peer, "elicits");
  const { sizes } = (asked.params.requestedSchema as { properties: Record<string, JsonObject> }).properties;
  expect(sizes).toMatchObject({ type: "string", title: "Sizes" });
  expect(sizes).not.toHaveProperty("items");
  const answer = await asked.answer({ action: "accept", content: { sizes: "s, l" } });
  expect(JSON.parse(textOf(answer))).toEqual({ sizes: ["s", "l"] });
});

const started = {
  text: { type: "string", default: "a" },
  share: { type: "number", default: 0.5 },
  count: { type: "integer", default: 3 },
  sure: { type: "boolean", default: true },
  color: { type: "string", enum: ["red", "green"], default: "red" },
  sizes: { type: "array", items: { type: "string", enum: ["s", "m"] }, default: ["s"] },
};

proves("elicitation.form.defaults", async (world) => {
  expect(await formOf(world, started)).toEqual(started);
});

proves("elicitation.form.prefilled", async (world) => {
  const played = await world.connect({ elicit: () => ({ action: "accept", content: { text: "b" } }) });
  const requestedSchema = { type: "object", properties: started };
  const { result } = await ask(world, played, elicitMethod, { message: "?", requestedSchema });
  expect(result?.content).toEqual({ text: "b", share: 0.5, count: 3, sure: true, color: "red", sizes: ["s"] });
});

proves("elicitation.form.complete", async (world) => {
  const seen: unknown[] = [];
  const played = await world.connect({
    elicit: (question) => {
      seen.push(question);
      return { action: "decline" };
    },
  });
  const named = {
    color: { type: "string", enum: ["r"], enumNames: ["Red"] },
    other: { type: "string", oneOf: titled },
  };
  const properties = { ...texts, ...numbers, ...answers, ...several, ...named, colors };
  const question = { message: "?", requestedSchema: { type: "object", properties, required: ["name"] } };
  expect((await ask(world, played, elicitMethod, question)).result).toEqual({ action: "decline" });
  expect(seen).toEqual([question]);
});

/** Each a form of one field, and an answer that does not fit it. */
const unfit: [JsonObject, unknown][] = [
  [{ type: "string" }, 5],
  [{ type: "string", minLength: 2 }, "a"],
  [{ type: "string", maxLength: 2 }, "abc"],
  [{ type: "string", format: "email" }, "nobody"],
  [{ type: "string", format: "date" }, "31.12.2026"],
  [{ type: "integer" }, 1.5],
  [{ type: "number", maximum: 1 }, 2],
  [{ type: "boolean" }, "true"],
  [{ type: "string", enum: ["red", "green"] }, "blue"],
];

proves("elicitation.form.checked", {
  async server(world) {
    for (const [field, given] of unfit) {
      const schema = { type: "object", properties: { field }, required: ["field"] };
      const elicits = tool({ call: async (_, ctx) => JSON.stringify(await ctx.elicit({ message: "?", schema })) });
      const peer = await world.serve({ tools: { elicits } }, { capabilities: forms });
      for (const content of [{ field: given }, {}]) {
        const { result } = await (await askedByTool(world, peer, "elicits")).answer({ action: "accept", content });
        if (world.isModern) expect(result.resultType).toBe("input_required");
        else expect(result).toMatchObject({ isError: true });
      }
    }
  },
  async client(world) {
    for (const [field, given] of unfit) {
      const errors: Error[] = [];
      const elicit: ConnectOptions["elicit"] = () => ({ action: "accept", content: { field: given as string } });
      const played = await world.connect({ elicit, onError: (error) => errors.push(error) });
      const requestedSchema = { type: "object", properties: { field }, required: ["field"] };
      const { result, error, failure } = await ask(world, played, elicitMethod, { message: "?", requestedSchema });
      expect(result).toBeUndefined();
      if (error) expect(errors).toMatchObject([{ code: "invalid_result" }]);
      else expect(failure).toMatchObject({ code: "invalid_result" });
    }
  },
});

proves("elicitation.action.accept", {
  async server(world) {
    const peer = await world.serve({ tools: { telling } }, { capabilities: forms });
    const asked = await askedByTool(world, peer, "telling");
    expect(textOf(await asked.answer({ action: "accept", content: { name: "Ann" } }))).toBe('{"name":"Ann"}');
  },
  async client(world) {
    const played = await world.connect({ elicit: () => ({ action: "accept", content: { name: "Ann" } }) });
    const { result } = await ask(world, played, elicitMethod, form);
    expect(result).toEqual({ action: "accept", content: { name: "Ann" } });
  },
});

/** Proves that a handler can distinguish an action of the user, and that it is sent without content. */
function refusal(action: "decline" | "cancel", said: string, thrown: () => Error): BothSides {
  return {
    async server(world) {
      const peer = await world.serve({ tools: { telling } }, { capabilities: formsAndUrls });
      const asked = await askedByTool(world, peer, "telling");
      expect(textOf(await asked.answer({ action }))).toBe(said);
    },
    async client(world) {
      const returned = await world.connect({ elicit: () => ({ action, content: { name: "Ann" } }) });
      expect((await ask(world, returned, elicitMethod, form)).result).toEqual({ action });
      const throwing = await world.connect({
        elicit: () => {
          throw thrown();
        },
      });
      expect((await ask(world, throwing, elicitMethod, form)).result).toEqual({ action });
    },
  };
}

proves(
  "elicitation.action.decline",
  refusal("decline", "declined", () => new Declined()),
);
proves(
  "elicitation.action.cancel",
  refusal("cancel", "cancelled", () => new Cancelled()),
);

proves("elicitation.failure.handled", async (world) => {
  const peer = await world.serve({ tools: { asking } }, { capabilities: forms });
  for (const action of ["decline", "cancel"]) {
    const { result } = await (await askedByTool(world, peer, "asking")).answer({ action });
    expect(result).toMatchObject({ isError: true });
  }
  for (const nonsense of [{ action: "perhaps" }, {}, { action: "accept", content: [] }]) {
    const { result } = await (await askedByTool(world, peer, "asking")).answer(nonsense);
    expect(result.resultType).toBe("input_required");
  }
  const asked = await askedByTool(world, peer, "asking");
  expect(textOf(await asked.answer({ action: "accept", content: { name: "Ann" } }))).toBe("Hello, Ann");
});

proves("elicitation.source", async (world) => {
  const sources: unknown[] = [];
  const played = await world.connect({
    elicit: (_, { server, target, during }) => {
      sources.push([server?.name, typeof target, during]);
      return { action: "decline" };
    },
  });
  await ask(world, played, elicitMethod, form);
  const [[name, target, during]] = sources as [[string, string, string | undefined]];
  expect(name).toBe("scripted");
  expect(target).toBe("string");
  expect(during).toContain("prompts/get");
});

proves("elicitation.approval", async (world) => {
  const deciding = gate();
  const { client, server } = await world.connect({
    elicit: (request, source) => deciding.call(request, source as never),
  });
  const answered = ask(world, { client, server }, elicitMethod, form);
  await deciding.entered;
  const before = server.received.length;
  await world.clock.advance(10_000);
  expect(server.received.length).toBe(before);
  deciding.open({ action: "accept", content: { name: "Ann" } });
  expect((await answered).result).toEqual({ action: "accept", content: { name: "Ann" } });
});

proves("elicitation.flood", async (world) => {
  const { client, server } = await world.connect({ elicit: () => new Promise(() => {}) });
  const { request } = await requested(client, server);
  for (let count = 0; count < 100; count++) void server.ask(`q${count}`, elicitMethod, form, request);
  expect((await server.ask("one too many", elicitMethod, form, request)).error.code).toBe(-32600);
});
