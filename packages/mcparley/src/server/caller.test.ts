import { describe, expect, test } from "vitest";
import { callerKey, networkOf } from "./caller.ts";

const alice = { issuer: "https://issuer.example", subject: "alice", scopes: [] };

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::FFFF:192.0.2.7", "192.0.2.7"],
  ["::ffff:c000:207", "192.0.2.7"],
  ["0:0:0:0:0:ffff:c000:0207", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:0DB8:0001:0002::1", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:db8::1:0:0:0:1", "2001:db8:0:1::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
])("the network of %s is %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

describe("the key of a caller", () => {
  test("is that of its principal, whatever its address", () => {
    expect(callerKey(alice, "192.0.2.7")).toBe(callerKey(alice, "192.0.2.8"));
    expect(callerKey(alice, undefined)).not.toBe(callerKey({ ...alice, subject: "bob" }, undefined));
  });

  test("is the network of its address if it is anonymous", () => {
    expect(callerKey(undefined, "2001:db8::1")).toBe(callerKey(undefined, "2001:db8::2"));
    expect(callerKey(undefined, "192.0.2.7")).not.toBe(callerKey(undefined, "192.0.2.8"));
  });

  test("is one for all whose address is unknown", () => {
    expect(callerKey(undefined, undefined)).toBe("");
  });
});
