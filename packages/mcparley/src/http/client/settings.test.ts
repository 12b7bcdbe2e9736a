import { expect, test } from "vitest";
import { httpTransports } from "./transport.ts";

test.each([
  ["not a url", /Cannot connect to "not a url"\. Pass an http or https URL/],
  ["ftp://example.com/", /Cannot connect to "ftp:/],
  ["https://user:pw@example.com/", /must not contain a user or password/],
])("the target %s is refused, without its secrets", (url, message) => {
  expect(() => httpTransports({ url })).toThrow(message);
  expect(() => httpTransports({ url })).not.toThrow(/pw/);
});

test("a header that HTTP does not allow is refused without its value", () => {
  const open = (): unknown =>
    httpTransports({ url: "https://example.com", headers: { authorization: "Bearer s3cr3t\n" } });
  expect(open).not.toThrow(/s3cr3t/);
});

test("the name of a target contains no secret of its URL", () => {
  expect(httpTransports({ url: "https://example.com/mcp?api_key=abc&x=1#y" }).target).toBe(
    "https://example.com/mcp?api_key=[redacted]&x=1",
  );
});

test("a transport has the extension of its authorization", () => {
  const auth = {
    headers: () => Promise.resolve({}),
    challenged: () => Promise.resolve(false),
    extension: "com.example/way",
  };
  expect(httpTransports({ url: "https://example.com/mcp", auth }).extension).toBe("com.example/way");
});
