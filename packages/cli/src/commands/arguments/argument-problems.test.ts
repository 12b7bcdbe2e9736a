import { createServer, tool } from "mcparley/server";
import { describe, expect, test } from "vitest";
import { runWith } from "../testing/fake-io.ts";

const properties = {
  limit: { type: "integer", minimum: 1 },
  mode: { type: "string", enum: ["fast", "slow"] },
  speed: { $ref: "#/$defs/speed" },
  filter: {
    type: "object",
    properties: { level: { type: "number" }, tags: { type: "array", items: { type: "string" } } },
    required: ["level"],
    additionalProperties: false,
  },
  ids: { type: "array", items: { type: "integer" }, maxItems: 2 },
  maybe: { anyOf: [{ type: "integer" }, { type: "null" }] },
};
const input = { type: "object", properties, required: ["limit"], $defs: { speed: { enum: ["low", "high"] } } } as const;

const calls: unknown[] = [];
const server = createServer({
  name: "s",
  version: "1",
  tools: {
    search: tool({
      input,
      call: (args) => {
        calls.push(args);
        return "called";
      },
    }),
  },
});

const call = (...words: string[]) => runWith({ server }, ["call", "http://127.0.0.1:1/mcp", "search", ...words]);

describe("an argument that does not match the schema is refused before the call, with its member and a cure", () => {
  test.each([
    [["limit=x"], 'limit is "x", and must be integer, not string', "Such as limit=INTEGER"],
    [["limit=0"], "limit is 0, and must be at least 1", "Such as limit=INTEGER"],
    [["limit=1.5"], 'limit is "1.5", and must be integer, not string', "Such as limit=INTEGER"],
    [["limit:=null"], "limit is null, and must be integer, not null", "Such as limit=INTEGER"],
    [["limit=1", "mode=fats"], 'mode is "fats", and must be one of', "Did you mean mode=fast?"],
    [["limit=0", "mode=fats"], "limit is 0, and must be at least 1; mode is", "Did you mean mode=fast?"],
    [["limit=1", "mode=qqqqqq"], 'mode is "qqqqqq", and must be one of', "Such as mode=fast|slow"],
    [["limit=1", "speed=hihg"], 'speed is "hihg", and must be one of', "Did you mean speed=high?"],
    [["limit=1", "filter:={}"], 'filter is {}, and must have the property "level"', "Such as filter:='{...}'"],
    [
      ['{"limit":1,"filter":{"level":"q"}}'],
      'filter.level is "q", and must be number',
      "whole value of filter as JSON",
    ],
    [['{"limit":1,"filter":{"level":1,"levle":2}}'], "filter.levle is not a known", "Did you mean filter.level?"],
    [['{"limit":1,"filter":{"level":1,"tags":["a",2]}}'], "filter.tags[1] is 2, and must be string", "filter as JSON"],
    [["limit=1", "ids=a"], 'ids[0] is "a", and must be integer', "Give the whole value of ids as JSON: ids:='...'"],
    [["limit=1", "ids=1", "ids=2", "ids=3"], "ids is [1,2,3], and must have at most 2 items", "Such as ids=ARRAY"],
    [["limit=1", "maybe=q"], 'maybe is "q", and must match at least one of 2 alternatives', "Such as maybe=INTEGER"],
    [["mode=fast"], 'The tool "search" needs limit.', "Add limit=INTEGER"],
    [["limti=1"], 'has no argument "limti"', 'Did you mean "limit"?'],
  ])("%j", async (words, problem, cure) => {
    calls.length = 0;
    const { code, io } = await call(...words);
    expect(code).toBe(1);
    expect(calls).toEqual([]);
    expect(io.err()).toContain(problem);
    expect(io.err()).toContain(cure);
  });

  test("names each problem, and at most five", async () => {
    const { io } = await call('{"limit":"x","mode":"y","speed":"z","ids":["a","b","c"],"maybe":"q"}');
    expect(io.err().match(/ must /g)).toHaveLength(5);
    expect(io.err()).toMatch(/; and [23] more\./);
  });
});

test("arguments that match the schema are sent", async () => {
  calls.length = 0;
  const words = ["limit=2", "mode=slow", "ids=1", "ids=2", 'filter:={"level":1}', "maybe=null", "speed=low"];
  expect((await call(...words)).code).toBe(0);
  const filter = { level: 1 };
  expect(calls).toEqual([{ limit: 2, mode: "slow", ids: [1, 2], filter, maybe: null, speed: "low" }]);
});

test.each([
  ["another dialect", { $schema: "http://json-schema.org/draft-03/schema#", type: "object" }],
  ["a reference to another document", { type: "object", properties: { x: { $ref: "https://a.example/x" } } }],
  ["an invalid schema", { type: "object", properties: { x: { type: "number", minimum: "one" } } }],
])("a server whose schema cannot be checked receives the call: %s", async (_what, inputSchema) => {
  const received: unknown[] = [];
  const client = {
    server: { capabilities: { tools: {} }, revisionKind: "modern" },
    async *listTools() {
      yield { name: "t", inputSchema };
    },
    callToolResult: (_name: string, args: unknown) => {
      received.push(args);
      return Promise.resolve({ content: [] });
    },
    close: () => Promise.resolve(),
  };
  const connect = (() => Promise.resolve(client)) as never;
  const { code } = await runWith({ connect }, ["call", "http://127.0.0.1:1/mcp", "t", "x:=true"]);
  expect(code).toBe(0);
  expect(received).toEqual([{ x: true }]);
});
