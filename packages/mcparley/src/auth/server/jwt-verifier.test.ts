import { expect, test } from "vitest";
import { jwtVerifier } from "./jwt-verifier.ts";

const options = { issuer: "https://auth.example.com", audience: "https://example.com/mcp" };

test.each([
  ["a list", []],
  ["an object without keys", {}],
  ["keys that are no list", { keys: {} }],
  ["a key that is no object", { keys: ["key"] }],
])("jwtVerifier refuses %s as jwks when it is called", (_, jwks) => {
  const make = () => jwtVerifier({ ...options, jwks: jwks as never });
  expect(make).toThrow(
    expect.objectContaining({
      code: "invalid_definition",
      message: "jwks must be a URL, or an object whose `keys` is a list of JSON Web Keys.",
    }) as Error,
  );
});

test("jwtVerifier accepts a set of keys, also an empty one", async () => {
  const verify = jwtVerifier({ ...options, jwks: { keys: [] } });
  expect(await verify("opaque", undefined as never)).toBeUndefined();
});
