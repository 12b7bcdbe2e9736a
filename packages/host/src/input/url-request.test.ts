import { expect, test } from "vitest";
import type { UrlRequest } from "../renderer/renderer.ts";
import { urlRequest } from "./elicit-handler.ts";

const origin = { server: "s", claims: undefined, during: undefined };

const request = (url: string, serverHost?: string): UrlRequest =>
  urlRequest({ mode: "url", message: "m", url }, origin, serverHost);

test("a plain URL is shown whole, without remarks", () => {
  const url = "https://pay.example.com/a?b=c#d";
  expect(request(url, "pay.example.com")).toEqual({ origin, message: "m", url, host: "pay.example.com", remarks: [] });
  expect(request(url).remarks).toEqual([]);
});

test("the URL and the host are ASCII", () => {
  const { url, host } = request("https://bücher.example/ü\u202e?ö#ä");
  expect(host).toBe("xn--bcher-kva.example");
  expect(url).toBe("https://xn--bcher-kva.example/%C3%BC%E2%80%AE?%C3%B6#%C3%A4");
});

test.each([
  [
    "https://bücher.example/",
    ['The host has letters that can look like other letters. It is displayed as "bücher.example".'],
  ],
  [
    "https://pаypal.example/", // The second letter is Cyrillic.
    [
      'The host has letters that can look like other letters. It is displayed as "pаypal.example".',
      '"pаypal" mixes letters of the scripts Latin and Cyrillic.',
    ],
  ],
  [
    "https://日本go.example/",
    ['The host has letters that can look like other letters. It is displayed as "日本go.example".'],
  ],
  ["https://a.example:8443/", ["The port 8443 is not the usual one."]],
  ["https://192.0.2.1/", ["The host is an IP address, and not a name."]],
  ["https://[2001:db8::1]/", ["The host is an IP address, and not a name."]],
  [
    "http://localhost:3000/",
    ["The page is on this machine, and the connection is not encrypted.", "The port 3000 is not the usual one."],
  ],
])("%s has remarks", (url, remarks) => {
  expect(request(url).remarks).toEqual(remarks);
});

test("a host that is not the server's is remarked, also if it only begins like it", () => {
  expect(request("https://mcp.example.com.evil.example/", "mcp.example.com").remarks).toEqual([
    'The host differs from the host of the server, "mcp.example.com".',
  ]);
});
