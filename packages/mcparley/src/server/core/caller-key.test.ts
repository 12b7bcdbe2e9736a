import { describe, expect, test } from "vitest";
import { callerKey } from "./context.ts";

const alice = { issuer: "https://issuer.example", subject: "alice", scopes: [] };

describe("the key of a caller", () => {
  test("is that of its principal, with any address", () => {
    expect(callerKey(alice, "192.0.2.7")).toBe(callerKey(alice, "192.0.2.8"));
    expect(callerKey(alice, undefined)).not.toBe(callerKey({ ...alice, subject: "bob" }, undefined));
  });

  test("differs for the same subject of another issuer", () => {
    expect(callerKey({ ...alice, issuer: "https://other.example" }, undefined)).not.toBe(callerKey(alice, undefined));
    const split = { ...alice, issuer: "https://issuer.example,alice", subject: "" };
    expect(callerKey(split, undefined)).not.toBe(
      callerKey({ ...alice, issuer: "https://issuer.example", subject: "alice," }, undefined),
    );
  });

  test("is the network of its address if it is anonymous", () => {
    expect(callerKey(undefined, "2001:db8::1")).toBe(callerKey(undefined, "2001:db8::2"));
    expect(callerKey(undefined, "192.0.2.7")).not.toBe(callerKey(undefined, "192.0.2.8"));
  });

  test("is the same for all callers with an unknown address", () => {
    expect(callerKey(undefined, undefined)).toBe("");
  });
});
