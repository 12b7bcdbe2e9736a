import fc from "fast-check";
import { isIP } from "node:net";
import { expect, test } from "vitest";
import { networkOf, parseIp } from "./ip-address.ts";

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

test.each([
  ["192.0.2.1", [192, 0, 2, 1]],
  ["::", Array(16).fill(0)],
  ["::1.2.3.4", [...Array(12).fill(0), 1, 2, 3, 4]],
  ["102:304:506:708:90a:b0c:d0e:f10", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]],
])("parses %s", (text, bytes) => expect(parseIp(text)).toEqual(bytes));

test.each(["", "1.2.3", "1.2.3.256", "01.2.3.4", "1.2.3.4.", "1.2.3.4::", "1::2::3", ":", "::1%eth0", "[::1]"])(
  "rejects %j",
  (text) => expect(parseIp(text)).toBeUndefined(),
);

test("accepts the same texts as the parser of Node", () => {
  const part = fc.constantFrom("1", "ff", "0", "a1b2", "127.0.0.1", "::", ":", ".", "256", "g", "");
  const text = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, (address) => {
      expect(parseIp(address)?.length).toBe({ 0: undefined, 4: 4, 6: 16 }[isIP(address)]);
    }),
    { numRuns: 2_000 },
  );
});
