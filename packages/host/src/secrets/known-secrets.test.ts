import { LocalError } from "mcparley";
import type { HttpAuth } from "mcparley/client";
import { expect, test } from "vitest";
import { knownSecrets } from "./known-secrets.ts";

const token = "ghx-4f9a0b77c1d2e3f00d";

test.each([
  ["an environment variable with the name of a secret", { command: "x", env: { API_KEY: token } }],
  ["an environment variable that looks like a token", { command: "x", env: { SETTING: token } }],
  ["the value of a flag", { command: "x", args: ["--api-key", token] }],
  ["the value of a flag after an equals sign", { command: "x", args: [`--token=${token}`] }],
  ["a header", { url: "https://example.com/mcp", headers: { "x-tenant-id": token } }],
  [
    "the credentials of a header, without the scheme",
    { url: "https://example.com/mcp", headers: { authorization: `Bearer ${token}` } },
  ],
  ["a member of the query", `https://example.com/mcp?access_token=${token}`],
  ["the password in a URL", new URL(`https://ann:${token}@example.com/mcp`)],
])("hides %s", (_, target) => {
  const secrets = knownSecrets();
  secrets.addFrom(target);
  expect(secrets.hide(`a ${token} b`)).not.toContain(token);
  expect(secrets.hide(`a ${token} b`)).toMatch(/^a .*b$/);
});

test.each([
  ["base64", Buffer.from(token).toString("base64")],
  ["base64url", Buffer.from(token).toString("base64url")],
  ["a percent-encoded text", encodeURIComponent(`${token}/+`)],
])("hides a secret as %s", (_, form) => {
  const secrets = knownSecrets();
  secrets.add(token);
  secrets.add(`${token}/+`);
  expect(secrets.hide(`<${form}>`)).toMatch(/^<\[redacted\]={0,2}>$/);
});

test("keeps settings that are no secrets", () => {
  const secrets = knownSecrets();
  secrets.addFrom({ command: "x", args: ["--root", "/home/ann"], env: { LOG_LEVEL: "debug", HOME: "/home/ann" } });
  secrets.addFrom({ url: "https://example.com/mcp?page=overview", headers: { accept: "application/json" } });
  const text = "debug /home/ann overview application/json https://example.com/mcp";
  expect(secrets.hide(text)).toBe(text);
});

test("hides a secret in all strings of a value, and in the names of its members", () => {
  const secrets = knownSecrets();
  secrets.add(token);
  const value = { list: [{ [`k-${token}`]: 1 }, token], other: 1, missing: null };
  expect(JSON.stringify(secrets.hideIn(value))).toBe(
    '{"list":[{"k-[redacted]":1},"[redacted]"],"other":1,"missing":null}',
  );
});

test("returns the same object if it has no secret", () => {
  const secrets = knownSecrets();
  secrets.add(token);
  const value = { list: [{ text: "none" }] };
  expect(secrets.hideIn(value)).toBe(value);
});

test("hides the credentials that an authorization sends", async () => {
  const secrets = knownSecrets();
  const auth: HttpAuth = {
    headers: () => Promise.resolve({ authorization: `Bearer ${token}` }),
    challenged: () => Promise.resolve(false),
  };
  const watched = secrets.watchAuth(auth);
  const url = new URL("https://example.com/mcp");
  expect(await watched.headers({ url, method: "POST", server: url })).toEqual({ authorization: `Bearer ${token}` });
  expect(secrets.hide(`You sent ${token}.`)).toBe("You sent [redacted].");
});

test("hides a secret in an error, and keeps its name and code", () => {
  const secrets = knownSecrets();
  secrets.add(token);
  const hidden = secrets.hideInError(new LocalError("exited", `stderr: ${token}`));
  expect(hidden.message).toBe("stderr: [redacted]");
  expect(hidden).toMatchObject({ name: "LocalError", code: "exited" });
  const clean = new Error("no secret");
  expect(secrets.hideInError(clean)).toBe(clean);
});

test("keeps at most 1,000 forms of secrets, the newest ones", () => {
  const secrets = knownSecrets();
  for (let index = 0; index < 2_000; index++) secrets.add(`secret-number-${index}`);
  expect(secrets.hide("secret-number-1999")).toBe("[redacted]");
  expect(secrets.hide("secret-number-1 ")).toBe("secret-number-1 ");
});
