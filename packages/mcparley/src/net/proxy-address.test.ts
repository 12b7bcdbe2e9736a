import { describe, expect, test } from "vitest";
import { makeProxyReader } from "./proxy-address.ts";
import type { TrustedProxy } from "../http/server/options.ts";

function addressIn(trusted: string | TrustedProxy, headers: Record<string, string>): string | undefined {
  return makeProxyReader(trusted)({ header: (name) => headers[name] })?.address;
}

describe("X-Forwarded-For", () => {
  const header = "x-forwarded-for";

  test.each([
    ["192.0.2.1", 1, "192.0.2.1"],
    ["6.6.6.6, 192.0.2.1", 1, "192.0.2.1"],
    ["6.6.6.6, 192.0.2.1, 10.0.0.1", 2, "192.0.2.1"],
    ["192.0.2.1", 2, undefined],
    ["192.0.2.1:4711", 1, "192.0.2.1"],
    ["2001:db8::1", 1, "2001:db8::1"],
    ["[2001:db8::1]:4711", 1, "2001:db8::1"],
    ["[2001:db8::1]", 1, "2001:db8::1"],
    ["::ffff:192.0.2.1", 1, "::ffff:192.0.2.1"],
    ["", 1, undefined],
    ["192.0.2.1,", 1, undefined],
    ["unknown", 1, undefined],
    ["192.0.2.256", 1, undefined],
    ["192.0.2", 1, undefined],
    ["192.0.2.1.", 1, undefined],
    ["0x7f.1", 1, undefined],
    ["example.com", 1, undefined],
    ["1::2::3", 1, undefined],
    ["[192.0.2.1]", 1, undefined],
    ["192.0.2.1@evil", 1, undefined],
    ["unknown, 192.0.2.1", 1, "192.0.2.1"],
    ['6.6.6.6, ", 192.0.2.1', 1, undefined],
    ['6.6.6.6, ", 192.0.2.1', 2, undefined],
    ['"6.6.6.6", 192.0.2.1', 1, undefined],
    ["6.6.6.6;x, 192.0.2.1", 1, undefined],
    ["6.6.6.6\\, 192.0.2.1", 1, undefined],
  ])("%j with %i hops is %j", (value, hops, expected) => {
    expect(addressIn({ header, hops }, { [header]: value })).toBe(expected);
  });

  test("is found for any case of the option", () => {
    expect(addressIn("X-Forwarded-For", { [header]: "192.0.2.1" })).toBe("192.0.2.1");
  });

  test("that is missing means an unknown address", () => {
    expect(addressIn(header, {})).toBeUndefined();
  });
});

test("a header with a single value is read unchanged", () => {
  expect(addressIn("cf-connecting-ip", { "cf-connecting-ip": "192.0.2.1" })).toBe("192.0.2.1");
});

describe("Forwarded (RFC 7239)", () => {
  test.each([
    ["for=192.0.2.60;proto=http;by=203.0.113.43", 1, "192.0.2.60"],
    ["For=192.0.2.43, for=198.51.100.17", 1, "198.51.100.17"],
    ['for=192.0.2.43, for="[2001:db8:cafe::17]:4711"', 1, "2001:db8:cafe::17"],
    ['for="192.0.2.43:47011";proto=https', 1, "192.0.2.43"],
    ['for="a,b";by=1.2.3.4, for=192.0.2.1', 2, undefined],
    ["for=unknown", 1, undefined],
    ['for="_mdn"', 1, undefined],
    ["proto=https", 1, undefined],
    ["for=192.0.2.43:47011", 1, "192.0.2.43"],
    ["for=[2001:db8::1]:80; proto=http , for=192.0.2.1", 2, "2001:db8::1"],
    ['for=6.6.6.6;by="\\", for=7.7.7.7", for=192.0.2.1', 1, "192.0.2.1"],
    ['for=6.6.6.6;by=", for=192.0.2.1', 1, undefined],
    ['for=6.6.6.6;by="a"b, for=192.0.2.1', 1, undefined],
    ["for=6.6.6.6;by=, for=192.0.2.1", 1, undefined],
    ["for=6.6.6.6;for=7.7.7.7, for=192.0.2.1", 1, undefined],
    ["for=6.6.6.6;For=7.7.7.7", 1, undefined],
    ["for=6.6.6.6;, for=192.0.2.1", 1, undefined],
    ["for=192.0.2.1,", 1, undefined],
    [", for=192.0.2.1", 1, undefined],
    ["192.0.2.1", 1, undefined],
    ["", 1, undefined],
  ])("%s", (value, hops, expected) => {
    expect(addressIn({ header: "forwarded", hops }, { forwarded: value })).toBe(expected);
  });
});

test.each([0, -1, 1.5, Number.NaN])("%s hops are refused", (hops) => {
  expect(() => makeProxyReader({ header: "x-forwarded-for", hops })).toThrow("trustProxy.hops");
});
