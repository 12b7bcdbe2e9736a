import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Prepared, classify, encode, failure, notification, success } from "./messages.ts";

describe("classify", () => {
  test.each([
    [{ jsonrpc: "2.0", id: 1, method: "m" }, "request"],
    [{ jsonrpc: "2.0", id: "", method: "m", params: {} }, "request"],
    [{ jsonrpc: "2.0", id: 0, method: "m" }, "request"],
    [{ jsonrpc: "2.0", method: "m" }, "notification"],
    [{ jsonrpc: "2.0", id: 1, result: {} }, "response"],
    [{ jsonrpc: "2.0", id: 1, error: { code: 1, message: "x" } }, "response"],
    [{ jsonrpc: "2.0", error: { code: 1, message: "x" } }, "response"],
    [{ jsonrpc: "2.0", id: null, error: { code: 1, message: "x" } }, "response"],
    [{ jsonrpc: "2.0", id: null, method: "m" }, "invalid"],
    [{ jsonrpc: "2.0", id: 1, error: { code: 1.5, message: "x" } }, "invalid"],
    [{ jsonrpc: "2.0", id: 1, error: { code: 1 } }, "invalid"],
    [{ jsonrpc: "2.0", id: 1, result: [1] }, "invalid"],
    [{ jsonrpc: "2.0", id: 1, result: "" }, "invalid"],
    [{ jsonrpc: "2.0", id: 1, result: [] }, "response"],
    [{ jsonrpc: "2.0", id: 1, result: null }, "response"],
    [{ jsonrpc: "2.0", id: 1, method: null, params: null, result: {}, error: null }, "response"],
    [{ jsonrpc: "2.0", id: 1, result: null, error: { code: 1, message: "x" } }, "response"],
    [{ jsonrpc: "2.0", id: 1, error: null }, "invalid"],
    [{ jsonrpc: "2.0", id: 1, method: "m", params: null }, "request"],
    [{ jsonrpc: "2.0", id: 1, method: "m", params: [] }, "request"],
    [{ jsonrpc: "2.0", id: 1, method: "m", params: [1] }, "invalid"],
    [{ jsonrpc: "2.0", method: "m", params: null }, "notification"],
    [[], "invalid"],
    ["x", "invalid"],
  ])("%j is a %s", (value, kind) => {
    expect(classify(value).kind).toBe(kind);
  });

  test("rejects an integer that JSON.parse may have rounded", () => {
    expect(classify(JSON.parse('{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}'))).toMatchObject({
      kind: "invalid",
      id: undefined,
    });
    expect(classify({ jsonrpc: "2.0", id: Number.MAX_SAFE_INTEGER, method: "m" }).kind).toBe("request");
  });

  test("returns the id of an invalid message if it can be read", () => {
    expect(classify({ id: "a", method: "m" })).toMatchObject({ kind: "invalid", id: "a" });
    expect(classify({ jsonrpc: "2.0", id: {}, method: "m" })).toMatchObject({ kind: "invalid", id: undefined });
  });

  test("classifies any JSON value without throwing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(["request", "notification", "response", "invalid"]).toContain(classify(value).kind);
      }),
    );
  });
});

describe("encode", () => {
  test("inserts a prepared result that reads like any other result", () => {
    const value = { tools: [{ name: 'quoted "name"' }] };
    for (const id of [1, 'a "quoted" id', ""]) {
      expect(JSON.parse(encode(success(id, new Prepared(value))))).toEqual({ jsonrpc: "2.0", id, result: value });
    }
  });

  test("does not serialize a prepared result again", () => {
    let reads = 0;
    const value = {
      get tools() {
        reads++;
        return [];
      },
    };
    const prepared = new Prepared(value);
    encode(success(1, prepared));
    encode(success(2, prepared));
    expect(reads).toBe(1);
  });

  test("omits the id of an error if the id of the request is unknown", () => {
    expect(encode(failure(undefined, { code: -32700, message: "x" }))).toBe(
      '{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}',
    );
    expect(encode(notification("n"))).toBe('{"jsonrpc":"2.0","method":"n"}');
  });

  test("writes any message as one line", () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (method, value) => {
        expect(encode(notification(method, { value }))).not.toContain("\n");
      }),
    );
  });
});
