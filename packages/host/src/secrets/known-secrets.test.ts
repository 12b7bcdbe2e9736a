import { setImmediate } from "node:timers/promises";
import { inspect } from "node:util";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { LocalError, ProtocolError } from "mcparley";
import { memoryCredentials } from "mcparley/auth";
import type { HttpAuth } from "mcparley/client";
import { expect, test } from "vitest";
import { labelServerText, labelTexts, serverTextRules } from "../conversation/server-text.ts";
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
  [
    "credentials with a line separator",
    { url: "https://example.com/mcp", headers: { authorization: `Bearer ${token}\u2028` } },
  ],
  ["a member of the query", `https://example.com/mcp?access_token=${token}`],
  ["a cookie", { url: "https://example.com/mcp", headers: { cookie: `page=1; session=${token}` } }],
  ["the first of two cookies", { url: "https://example.com/mcp", headers: { Cookie: `a=${token}; b=other-value` } }],
  [
    "the password of Basic",
    {
      url: "https://example.com/mcp",
      headers: { authorization: `Basic ${Buffer.from(`ann:${token}`).toString("base64")}` },
    },
  ],
  ["the password in a URL", new URL(`https://ann:${token}@example.com/mcp`)],
])("hides %s", (_, target) => {
  const secrets = knownSecrets();
  secrets.addFrom(target);
  expect(secrets.withoutSecrets(`a ${token} b`)).not.toContain(token);
  expect(secrets.withoutSecrets(`a ${token} b`)).toMatch(/^a .*b$/);
});

test.each([
  ["base64", Buffer.from(token).toString("base64")],
  ["base64url", Buffer.from(token).toString("base64url")],
  ["a percent-encoded text", encodeURIComponent(`${token}/+`)],
])("hides a secret as %s", (_, form) => {
  const secrets = knownSecrets();
  secrets.add(token);
  secrets.add(`${token}/+`);
  expect(secrets.withoutSecrets(`<${form}>`)).toMatch(/^<\[redacted\]={0,2}>$/);
});

test("keeps settings that are no secrets", () => {
  const secrets = knownSecrets();
  secrets.addFrom({ command: "x", args: ["--root", "/home/ann"], env: { LOG_LEVEL: "debug", HOME: "/home/ann" } });
  secrets.addFrom({ url: "https://example.com/mcp?page=overview", headers: { accept: "application/json" } });
  const text = "debug /home/ann overview application/json https://example.com/mcp";
  expect(secrets.withoutSecrets(text)).toBe(text);
});

test("hides a secret in all strings of a value, and in the names of its members", () => {
  const secrets = knownSecrets();
  secrets.add(token);
  const value = { list: [{ [`k-${token}`]: 1 }, token], other: 1, missing: null };
  expect(JSON.stringify(secrets.withoutSecrets(value))).toBe(
    '{"list":[{"k-[redacted]":1},"[redacted]"],"other":1,"missing":null}',
  );
});

test("returns the same object if it has no secret", () => {
  const secrets = knownSecrets();
  secrets.add(token);
  const value = { list: [{ text: "none" }] };
  expect(secrets.withoutSecrets(value)).toBe(value);
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
  expect(secrets.withoutSecrets(`You sent ${token}.`)).toBe("You sent [redacted].");
});

test("hides a secret in an error, and keeps its name and code", () => {
  const secrets = knownSecrets();
  secrets.add(token);
  const hidden = secrets.withoutSecrets(new LocalError("exited", `stderr: ${token}`));
  expect(hidden.message).toBe("stderr: [redacted]");
  expect(hidden).toMatchObject({ name: "LocalError", code: "exited" });
  const clean = new Error("no secret");
  expect(secrets.withoutSecrets(clean)).toBe(clean);
});

test("keeps at most 1,000 forms of secrets that change, the newest ones, and all configured ones", () => {
  const secrets = knownSecrets();
  secrets.addFrom({ command: "x", env: { API_KEY: token } });
  for (let index = 0; index < 2_000; index++) secrets.add(`secret-number-${index}`);
  expect(secrets.withoutSecrets("secret-number-1999")).toBe("[redacted]");
  expect(secrets.withoutSecrets("secret-number-1 ")).toBe("secret-number-1 ");
  expect(secrets.withoutSecrets(token)).toBe("[redacted]");
});

test("keeps a token that requests still carry, while other secrets change", () => {
  const secrets = knownSecrets();
  for (let index = 0; index < 2_000; index++) {
    secrets.add(token);
    secrets.add(`secret-number-${index}`);
  }
  expect(secrets.withoutSecrets(`${token} secret-number-1999`)).toBe("[redacted] [redacted]");
});

test.each(["", "a", "ab", "user:"])("hides a secret in the base64 of a longer text that starts with %j", (before) => {
  const secrets = knownSecrets();
  secrets.add(token);
  for (const encoding of ["base64", "base64url"] as const) {
    const shown = secrets.withoutSecrets(Buffer.from(`${before}${token}?after`).toString(encoding));
    expect(shown).toContain("[redacted]");
    expect(Buffer.from(shown, encoding).toString()).not.toContain(token.slice(4, -4));
  }
});

test("hides a secret in the data, the causes and the stack of an error, and keeps its class", () => {
  const secrets = knownSecrets();
  secrets.add(token);
  const cause = new Error("refused", { cause: { header: token } });
  const error = new ProtocolError(-32000, "failed", { data: { sent: [token] } });
  error.cause = cause;
  const hidden = secrets.withoutSecrets(error);
  expect(hidden).toBeInstanceOf(ProtocolError);
  expect(hidden).toMatchObject({ code: -32000, message: "failed", data: { sent: ["[redacted]"] } });
  expect(inspect(hidden, { depth: 9 })).not.toContain(token);
  expect(inspect(error, { depth: 9 })).toContain(token);
  expect(secrets.withoutSecrets(new DOMException(token, "AbortError"))).toMatchObject({ name: "AbortError" });
});

test("hides the tokens and the client secret of a storage, and keeps the names of methods", async () => {
  const secrets = knownSecrets();
  const storage = secrets.watchStorage(memoryCredentials());
  const stored = {
    tokens: { access_token: token, refresh_token: `${token}-2` },
    client: { client_secret: `${token}-3`, token_endpoint_auth_method: "client_secret_basic" },
  };
  await storage.compareAndSet("a", undefined, JSON.stringify(stored));
  expect(secrets.withoutSecrets(`${token}-2 ${token}-3 ${token} client_secret_basic`)).toBe(
    "[redacted] [redacted] [redacted] client_secret_basic",
  );
});

test("a wait for the work of another holder of a watched storage ends with the signal", async () => {
  const storage = knownSecrets().watchStorage(memoryCredentials());
  let end = (): void => {};
  const first = storage.exclusively("a", () => new Promise<void>((resolve) => (end = resolve)));
  const controller = new AbortController();
  const waiting = storage.exclusively("a", async () => "ran", controller.signal);
  controller.abort(new Error("stopped"));
  try {
    await expect(Promise.race([waiting, setImmediate("still waits")])).rejects.toThrow("stopped");
  } finally {
    end();
    await first;
  }
});

test("hides the key of a model's provider", () => {
  const secrets = knownSecrets();
  secrets.addModels(createOpenAICompatible({ name: "x", baseURL: "http://127.0.0.1:1", apiKey: token })("m"));
  expect(secrets.withoutSecrets(`Your key ${token} is wrong.`)).toBe("Your key [redacted] is wrong.");
});

test("hides the password in a URL of the environment, and keeps the rest", () => {
  const secrets = knownSecrets();
  secrets.addFrom({ command: "x", env: { DATABASE: "postgres://ann:hunter22@db.example.com/orders" } });
  expect(secrets.withoutSecrets("hunter22 at db.example.com/orders of ann")).toBe(
    "[redacted] at db.example.com/orders of ann",
  );
});

test("hides the longest of several secrets with the same start, and those next to each other", () => {
  const secrets = knownSecrets();
  for (const secret of ["sesame", "sesame-open", "(a|b)*[c]"]) secrets.add(secret);
  expect(secrets.withoutSecrets("sesame-open, (a|b)*[c]sesame")).toBe("[redacted], [redacted][redacted]");
});

test("hides a secret in an error that is a member, a cause of a cause, or in a circle", () => {
  const secrets = knownSecrets();
  secrets.add(token);
  const error: Error = new Error("a", { cause: new Error("b", { cause: new Error(token) }) });
  const event = { type: "error", error: Object.assign(error, { self: error, other: new Error(token) }) };
  const shown = inspect(secrets.withoutSecrets(event), { depth: 99 });
  expect(shown).toContain("[redacted]");
  expect(shown).not.toContain(token);
});

test("hides the whole of secrets that overlap, and the longest at the same place", () => {
  const secrets = knownSecrets();
  for (const secret of ["abcdef123", "f123ghijk", "abcdef"]) secrets.add(secret);
  expect(secrets.withoutSecrets("<abcdef123ghijk> <abcdef123> <abcdefx>")).toBe(
    "<[redacted]> <[redacted]> <[redacted]x>",
  );
});

test("numbers the second of two names that become the same one", () => {
  const secrets = knownSecrets();
  secrets.add(token);
  secrets.add(`2-${token}`);
  expect(secrets.withoutSecrets({ [token]: 1, [`2-${token}`]: 2, other: 3 })).toEqual({
    "[redacted]": 1,
    "[redacted]_2": 2,
    other: 3,
  });
});

test("keeps the labels of texts of servers and their rules, and removes secrets within them", () => {
  const secrets = knownSecrets({ isName: () => false, texts: labelTexts });
  for (const word of ["server-text", "result", "prompt", "server", "follow", token]) secrets.add(word);
  const label = (text: string): string =>
    labelServerText({ kind: "result", origin: { server: "a", name: token }, text });
  const shown = secrets.withoutSecrets(`${serverTextRules}\n${label(`The ${token} is a result.`)}`);
  expect(shown.replaceAll(/ mark="\w+"/g, "")).toBe(
    `${serverTextRules}\n<server-text kind="result" server="a" name="[redacted]">\nThe [redacted] is a [redacted].\n</server-text>`,
  );
});

test("keeps the names of servers, and the ids of calls", () => {
  const secrets = knownSecrets({ isName: (name) => name === "weather", texts: labelTexts });
  secrets.add("weather");
  secrets.add("call-1234");
  expect(secrets.withoutSecrets({ type: "call", callId: "call-1234", server: "weather", text: "weather" })).toEqual({
    type: "call",
    callId: "call-1234",
    server: "weather",
    text: "[redacted]",
  });
  expect(secrets.withoutSecrets({ callId: "call-1234", server: "weather2" })).toEqual({
    callId: "[redacted]",
    server: "[redacted]2",
  });
});

test.each([
  ["note:/home/me/a", "note:/home/me/a"],
  ["https://me:/home/me@example.com/home/me", "https://me:/home/me@example.com/home/me"],
  [
    "db://ann:hunter22@example.com/hunter22/a?key=hunter22#hunter22",
    "db://ann:[redacted]@example.com/hunter22/a?key=[redacted]#[redacted]",
  ],
])("removes secrets from the user, the query and the fragment of the URI %s", (uri, expected) => {
  const secrets = knownSecrets();
  secrets.add("/home/me");
  secrets.add("hunter22");
  expect(secrets.uriWithoutSecrets(uri)).toBe(expected);
});

test.each([
  ["nothing of it", 13],
  ["it is sesa", 6],
  ["it is sesame", 6],
  ["it is sesame-open", 17],
  ["it is sesame-open-s", 18],
  ["s".repeat(300), 299],
])("finds the start of a secret at the end of %j", (text, length) => {
  const secrets = knownSecrets();
  secrets.add("sesame");
  secrets.add("sesame-open");
  expect(secrets.lengthBeforeStart(text)).toBe(length);
});

test("holds back at most 256 characters, and divides no secret", () => {
  const secrets = knownSecrets();
  secrets.add("x".repeat(1_000));
  secrets.add("abcdef");
  secrets.add("efghijk");
  expect(secrets.lengthBeforeStart("x".repeat(900))).toBe(644);
  expect(secrets.lengthBeforeStart("is abcdef")).toBe(3);
});
