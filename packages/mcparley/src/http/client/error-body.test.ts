import { describe, expect, test } from "vitest";
import { expectLinearTime } from "mcparley-tests/support/linear-time.ts";
import { explanationIn } from "./error-body.ts";

describe("the explanation in the body of an error response", () => {
  test.each([
    ["JSON-RPC", '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"The key has expired"}}'],
    ["a batch of JSON-RPC", '[{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"The key has expired"}}]'],
    ["OAuth", '{"error":"invalid_token","error_description":"The key has expired"}'],
    ["problem details", '{"type":"about:blank","title":"Unauthorized","detail":"The key has expired"}'],
    ["a web framework", '{"message":"The key has expired","error":"Unauthorized"}'],
    ["a single member", '{"error":"The key has expired"}'],
    ["plain text", "The key\n  has expired\n"],
    ["a page with a title", "<html><head><title>The key has expired</title></head><body>Hello</body></html>"],
    ["a page without a title", "<body><h1>The <b>key</b> has expired</h1><p>nginx</p></body>"],
    ["an XML document", "<Error><Message>The key has expired</Message></Error>"],
  ])("is that of %s", (_kind, body) => {
    expect(explanationIn(body)).toBe("The key has expired");
  });

  test.each([
    ["an empty body", ""],
    ["JSON without a text", '{"status":401}'],
    ["JSON that is cut off", '{"message":"cut o'],
    ["a page without text", "<!DOCTYPE html><html><script>alert('x')</script></html>"],
  ])("is empty for %s", (_kind, body) => {
    expect(explanationIn(body)).toBe("");
  });

  test("of Express is its first line, without the stack trace", () => {
    const page = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Error</title></head><body>
      <pre>SyntaxError: Expected &#39;}&#39; in JSON<br> &nbsp; &nbsp;at JSON.parse (&lt;anonymous&gt;)</pre></body></html>`;
    expect(explanationIn(page)).toBe("SyntaxError: Expected '}' in JSON");
  });

  test("does not contain a script or a style that is cut off", () => {
    expect(explanationIn("<p>Busy</p><style>p { color: red")).toBe("Busy");
    expect(explanationIn("<p>Busy</p><script>var apiKey")).toBe("Busy");
  });

  test.each([
    ["markup", (length: number) => `<p>${"x".repeat(length)}</p>`, 200],
    ["text", (length: number) => "x".repeat(length), 1_000],
  ])("of %s is cut off after its limit", (_kind, body, limit) => {
    expect(explanationIn(body(limit))).toBe("x".repeat(limit));
    expect(explanationIn(body(limit + 1))).toBe(`${"x".repeat(limit - 1)}…`);
  });

  test("contains no secret", () => {
    expect(explanationIn('{"message":"bad token=abc123def"}')).toBe("bad token=[redacted]");
    expect(explanationIn("<title>bad token=abc123def</title>")).toBe("bad token=[redacted]");
  });

  test.each(["<title", "<br", "</p", "<script", "</script ", "<", "&#", "<title></title"])(
    "is read in linear time from markup that repeats %s",
    async (unit) => {
      await expectLinearTime({ head: "<p>", unit, tail: "" }, explanationIn);
    },
  );
});

test("a JSON body of more than 262,144 characters is not parsed", () => {
  const bodyOf = (length: number) => `{"message":"expired","a":"${"x".repeat(length - 28)}"}`;
  expect(bodyOf(262_144)).toHaveLength(262_144);
  expect(explanationIn(bodyOf(262_144))).toBe("expired");
  expect(explanationIn(bodyOf(262_145))).toBe("");
});
