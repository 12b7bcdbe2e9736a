import { BlockList } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPrivateAddress, isPrivateHost } from "./private-address.ts";

describe("an address that is not of the public Internet", () => {
  test.each([
    ["this network", "0.0.0.0"],
    ["private", "10.0.0.1"],
    ["private", "172.16.0.1"],
    ["private", "172.31.255.255"],
    ["private", "192.168.1.1"],
    ["shared by carriers", "100.64.0.1"],
    ["shared by carriers", "100.127.255.255"],
    ["loopback", "127.0.0.1"],
    ["loopback", "127.255.255.254"],
    ["link-local, with the metadata of clouds", "169.254.169.254"],
    ["for protocols", "192.0.0.170"],
    ["for benchmarks", "198.19.255.255"],
    ["for documentation", "203.0.113.9"],
    ["multicast", "224.0.0.1"],
    ["multicast", "239.255.255.250"],
    ["reserved", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["unspecified", "::"],
    ["loopback", "::1"],
    ["link-local", "fe80::1"],
    ["link-local with its zone", "fe80::1%eth0"],
    ["unique local", "fc00::1"],
    ["unique local, with the metadata of a cloud", "fd00:ec2::254"],
    ["multicast", "ff02::1"],
    ["for documentation", "2001:db8::1"],
    ["Teredo", "2001:0:4136:e378::1"],
    ["6to4 of a private address", "2002:0a00:0001::1"],
    ["IPv4-mapped loopback", "::ffff:127.0.0.1"],
    ["IPv4-mapped, in hexadecimal", "::ffff:a9fe:a9fe"],
    ["IPv4-compatible", "::127.0.0.1"],
    ["NAT64 of a private address", "64:ff9b::10.0.0.1"],
    ["NAT64 with a local prefix", "64:ff9b:1::8.8.8.8"],
    ["not an address", "localhost"],
    ["not an address", ""],
    ["not an address", "1.2.3"],
    ["not an address", "1.2.3.256"],
    ["not an address, but other parsers read it as 8.8.8.8", "010.8.8.8"],
    ["not an address", "1::2::3"],
    ["not an address", "2001:4860:4860:0:0:0:0:0:8888"],
    ["not an address", "2001:4860:4860::g"],
  ])("%s: %s", (_, address) => expect(isPrivateAddress(address)).toBe(true));
});

test.each([
  "1.1.1.1",
  "8.8.8.8",
  "100.63.255.255",
  "100.128.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "223.255.255.255",
  "2001:4860:4860::8888",
  "2606:4700:4700:0:0:0:0:1111",
  "::ffff:8.8.8.8",
  "64:ff9b::808:808",
])("%s is a public address", (address) => expect(isPrivateAddress(address)).toBe(false));

test("IPv4 addresses are classified like by the block list of Node", () => {
  const list = new BlockList();
  for (const [network, bits] of [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 3],
  ] as const)
    list.addSubnet(network, bits);
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      expect(isPrivateAddress(address)).toBe(list.check(address));
      expect(isPrivateAddress(`::ffff:${address}`)).toBe(list.check(address));
    }),
  );
});

test("all spellings of an address have the same classification", () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const written = new URL(`http://[${address}]/`).hostname.slice(1, -1);
      expect(isPrivateAddress(address)).toBe(isPrivateAddress(written));
    }),
  );
});

test.each([
  ["http://localhost:1/", true],
  ["http://a.localhost/", true],
  ["http://printer/", true],
  ["http://printer.local/", true],
  ["http://vault.internal./", true],
  ["http://nas.home.arpa/", true],
  ["http://127.1/", true],
  ["http://0x7f000001/", true],
  ["http://[::ffff:7f00:1]/", true],
  ["http://[fd00::1]/", true],
  ["https://mcp.example.com/", false],
  ["https://localhost.example.com/", false],
  ["https://8.8.8.8/", false],
  ["https://[2606:4700::1111]/", false],
])("whether %s is a private host: %s", (url, expected) => expect(isPrivateHost(new URL(url).hostname)).toBe(expected));
