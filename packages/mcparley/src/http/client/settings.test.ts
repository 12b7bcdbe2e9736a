import { expect, test } from "vitest";
import { httpDialer } from "./dialer.ts";

test.each([
  ["not a url", /"not a url" is not a URL/],
  ["ftp://example.com/", /http or https URL; got one with ftp:/],
  ["https://user:pw@example.com/", /must hold no user or password/],
])("the target %s is refused, without its secrets", (url, message) => {
  expect(() => httpDialer({ url })).toThrow(message);
  expect(() => httpDialer({ url })).not.toThrow(/pw/);
});

test("a header that HTTP does not allow is refused without its value", () => {
  const open = (): unknown => httpDialer({ url: "https://example.com", headers: { authorization: "Bearer s3cr3t\n" } });
  expect(open).not.toThrow(/s3cr3t/);
});

test("a target's name holds no secret of its URL", () => {
  expect(httpDialer({ url: "https://example.com/mcp?api_key=abc&x=1#y" }).target).toBe(
    "https://example.com/mcp?api_key=[redacted]&x=1",
  );
});

test("the extension that an authorization is goes with the way to the server", () => {
  const auth = {
    headers: () => Promise.resolve({}),
    challenged: () => Promise.resolve(false),
    extension: "com.example/way",
  };
  expect(httpDialer({ url: "https://example.com/mcp", auth }).extension).toBe("com.example/way");
});
