import { setImmediate } from "node:timers/promises";
import { inspect } from "node:util";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { LocalError, ProtocolError } from "mcparley";
import { memoryCredentials } from "mcparley/auth";
import type { HttpAuth } from "mcparley/client";
import { describe, expect, test } from "vitest";
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
  const secrets = knownSecrets().of("notes");
  secrets.addFrom(target);
  expect(secrets.withoutSecrets(`a ${token} b`)).not.toContain(token);
  expect(secrets.withoutSecrets(`a ${token} b`)).toMatch(/^a .*b$/);
});

test.each([
  ["base64", Buffer.from(token).toString("base64")],
  ["base64url", Buffer.from(token).toString("base64url")],
  ["a percent-encoded text", encodeURIComponent(`${token}/+`)],
])("hides a secret as %s", (_, form) => {
  const secrets = knownSecrets().of("notes");
  secrets.add(token);
  secrets.add(`${token}/+`);
  expect(secrets.withoutSecrets(`<${form}>`)).toMatch(/^<\[redacted\]={0,2}>$/);
});

test("keeps settings that are no secrets", () => {
  const secrets = knownSecrets().of("notes");
  secrets.addFrom({ command: "x", args: ["--root", "/home/ann"], env: { LOG_LEVEL: "debug", HOME: "/home/ann" } });
  secrets.addFrom({ url: "https://example.com/mcp?page=overview", headers: { accept: "application/json" } });
  const text = "debug /home/ann overview application/json https://example.com/mcp";
  expect(secrets.withoutSecrets(text)).toBe(text);
});

test("hides a random secret in all strings of a value, and in the names of its members", () => {
  const secrets = knownSecrets().of("notes");
  secrets.add(token);
  const value = { list: [{ [`k-${token}`]: 1 }, token], other: 1, missing: null };
  expect(JSON.stringify(secrets.withoutSecrets(value))).toBe(
    '{"list":[{"k-[redacted]":1},"[redacted]"],"other":1,"missing":null}',
  );
});

test.each(["temperature", "user_id", "hunter22", "customer-4711"])(
  "keeps the names of members that are the token %s of a server",
  (word) => {
    const secrets = knownSecrets().of("notes");
    secrets.add(word);
    const value = { [word]: 1, list: [{ [word]: { [`my_${word}`]: true } }] };
    expect(secrets.withoutSecrets(value)).toBe(value);
  },
);

test("returns the same object if it has no secret", () => {
  const all = knownSecrets();
  const secrets = all.of("notes");
  secrets.add(token);
  const value = { list: [{ text: "none" }] };
  expect(secrets.withoutSecrets(value)).toBe(value);
  const message = {
    role: "user",
    content: [
      { type: "text", text: "Hello" },
      { type: "text", text: "you", from: {} },
    ],
  };
  expect(all.messageWithoutSecrets(message)).toBe(message);
});

test("hides the credentials that an authorization sends", async () => {
  const secrets = knownSecrets().of("notes");
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
  const secrets = knownSecrets().of("notes");
  secrets.add(token);
  const hidden = secrets.withoutSecrets(new LocalError("exited", `stderr: ${token}`));
  expect(hidden.message).toBe("stderr: [redacted]");
  expect(hidden).toMatchObject({ name: "LocalError", code: "exited" });
  const clean = new Error("no secret");
  expect(secrets.withoutSecrets(clean)).toBe(clean);
});

test("keeps at most 1,000 forms of secrets that change, the newest ones, and all configured ones", () => {
  const secrets = knownSecrets().of("notes");
  secrets.addFrom({ command: "x", env: { API_KEY: token } });
  for (let index = 0; index < 2_000; index++) secrets.add(`secret-number-${index}x`);
  expect(secrets.withoutSecrets("secret-number-1999x")).toBe("[redacted]");
  expect(secrets.withoutSecrets("secret-number-1x ")).toBe("secret-number-1x ");
  expect(secrets.withoutSecrets(token)).toBe("[redacted]");
});

test("keeps a token that requests still carry, while other secrets change", () => {
  const secrets = knownSecrets().of("notes");
  for (let index = 0; index < 2_000; index++) {
    secrets.add(token);
    secrets.add(`secret-number-${index}x`);
  }
  expect(secrets.withoutSecrets(`${token} secret-number-1999x`)).toBe("[redacted] [redacted]");
});

test("a token that a request carries again is newer than those between", () => {
  const secrets = knownSecrets().of("notes");
  const addOthers = (name: string): void => {
    for (let index = 0; index < 150; index++) secrets.add(`${name}-number-${index}x`);
  };
  secrets.add(token);
  addOthers("one");
  secrets.add(token);
  addOthers("two");
  expect(secrets.withoutSecrets(token)).toBe("[redacted]");
  addOthers("three");
  expect(secrets.withoutSecrets(token)).toBe(token);
});

test.each(["", "a", "ab", "user:"])("hides a secret in the base64 of a longer text that starts with %j", (before) => {
  const secrets = knownSecrets().of("notes");
  secrets.add(token);
  for (const encoding of ["base64", "base64url"] as const) {
    const shown = secrets.withoutSecrets(Buffer.from(`${before}${token}?after`).toString(encoding));
    expect(shown).toContain("[redacted]");
    expect(Buffer.from(shown, encoding).toString()).not.toContain(token.slice(4, -4));
  }
});

test("hides a secret in the data, the causes and the stack of an error, and keeps its class", () => {
  const secrets = knownSecrets().of("notes");
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
  const secrets = knownSecrets().of("notes");
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

test("hides the tokens that an earlier process has stored, when they are read", async () => {
  const credentials = memoryCredentials();
  await credentials.compareAndSet("a", undefined, JSON.stringify({ tokens: { access_token: token } }));
  const secrets = knownSecrets().of("notes");
  const storage = secrets.watchStorage(credentials);
  expect(secrets.withoutSecrets(token)).toBe(token);
  expect(await storage.get("a")).toContain(token);
  expect(secrets.withoutSecrets(token)).toBe("[redacted]");
});

test("a wait for the work of another holder of a watched storage ends with the signal", async () => {
  const storage = knownSecrets().of("notes").watchStorage(memoryCredentials());
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

test("hides the key of a model's provider in texts of any origin", () => {
  const secrets = knownSecrets();
  secrets.addModels(createOpenAICompatible({ name: "x", baseURL: "http://127.0.0.1:1", apiKey: token })("m"));
  for (const { withoutSecrets } of [secrets, secrets.of("notes")]) {
    expect(withoutSecrets(`Your key ${token} is wrong.`)).toBe("Your key [redacted] is wrong.");
  }
});

test("hides the password in a URL of the environment, and keeps the rest", () => {
  const secrets = knownSecrets().of("notes");
  secrets.addFrom({ command: "x", env: { DATABASE: "postgres://ann:hunter22@db.example.com/orders" } });
  expect(secrets.withoutSecrets("hunter22 at db.example.com/orders of ann")).toBe(
    "[redacted] at db.example.com/orders of ann",
  );
});

test("hides the longest of several secrets with the same start, and those next to each other", () => {
  const secrets = knownSecrets().of("notes");
  for (const secret of ["sesame1", "sesame1-open", "(a|b)*[c]"]) secrets.add(secret);
  expect(secrets.withoutSecrets("sesame1-open, (a|b)*[c]sesame1")).toBe("[redacted], [redacted][redacted]");
});

test("hides a secret in an error that is a member, a cause of a cause, or in a circle", () => {
  const secrets = knownSecrets().of("notes");
  secrets.add(token);
  const error: Error = new Error("a", { cause: new Error("b", { cause: new Error(token) }) });
  const event = { type: "error", error: Object.assign(error, { self: error, other: new Error(token) }) };
  const shown = inspect(secrets.withoutSecrets(event), { depth: 99 });
  expect(shown).toContain("[redacted]");
  expect(shown).not.toContain(token);
});

test("hides the whole of secrets that overlap, and the longest at the same place", () => {
  const secrets = knownSecrets().of("notes");
  for (const secret of ["abcde1234", "e1234ghij", "abcde1"]) secrets.add(secret);
  expect(secrets.withoutSecrets("<abcde1234ghij> <abcde1234> <abcde1x>")).toBe(
    "<[redacted]> <[redacted]> <[redacted]x>",
  );
});

test("numbers the second of two names that become the same one", () => {
  const secrets = knownSecrets().of("notes");
  secrets.addFrom({ command: "x", env: { API_KEY: token, OTHER_KEY: `2-${token}` } });
  expect(secrets.withoutSecrets({ [token]: 1, [`2-${token}`]: 2, other: 3 })).toEqual({
    "[redacted]": 1,
    "[redacted]_2": 2,
    other: 3,
  });
});

test("keeps the labels of texts of servers and their rules, and removes secrets within them", () => {
  const secrets = knownSecrets({ isName: () => false, texts: labelTexts }).of("notes");
  for (const word of ['<server-text kind="result"', 'server="a"', "</server-text>", "result#", token])
    secrets.add(word);
  const label = (text: string): string =>
    labelServerText({ kind: "result", origin: { server: "a", name: token }, text });
  const shown = secrets.withoutSecrets(`${serverTextRules}\n${label(`The ${token} is a result# server="a".`)}`);
  expect(shown.replaceAll(/ mark="\w+"/g, "")).toBe(
    `${serverTextRules}\n<server-text kind="result" server="a" name="[redacted]">\nThe [redacted] is a [redacted] [redacted].\n</server-text>`,
  );
});

test("keeps the names of servers, and the ids of calls", () => {
  const secrets = knownSecrets({ isName: (name) => name === "weather-7x", texts: labelTexts }).of("notes");
  secrets.add("weather-7x");
  secrets.add("call-1234x");
  expect(
    secrets.withoutSecrets({ type: "call", callId: "call-1234x", server: "weather-7x", text: "weather-7x" }),
  ).toEqual({
    type: "call",
    callId: "call-1234x",
    server: "weather-7x",
    text: "[redacted]",
  });
  expect(secrets.withoutSecrets({ callId: "call-1234x", server: "weather-7x2" })).toEqual({
    callId: "[redacted]",
    server: "[redacted]2",
  });
});

test.each([
  ["note:/home/me7/a", "note:/home/me7/a"],
  ["https://me:/home/me7@example.com/home/me7", "https://me:/home/me7@example.com/home/me7"],
  [
    "db://ann:hunter22@example.com/hunter22/a?key=hunter22#hunter22",
    "db://ann:[redacted]@example.com/hunter22/a?key=[redacted]#[redacted]",
  ],
])("removes secrets from the user, the query and the fragment of the URI %s", (uri, expected) => {
  const secrets = knownSecrets().of("notes");
  secrets.add("/home/me7");
  secrets.add("hunter22");
  expect(secrets.uriWithoutSecrets(uri)).toBe(expected);
});

describe("secrets of several servers", () => {
  const word = "untrusted";
  const commit = "9fceb02d0ae598e95dc970b74767f19372d61af8";
  const issue = (accessToken: string, server: ReturnType<typeof knownSecrets>, name: string): void => {
    const storage = server.of(name).watchStorage(memoryCredentials());
    void storage.compareAndSet("a", undefined, JSON.stringify({ tokens: { access_token: accessToken } }));
  };

  test.each([word, commit, "temperature", "user_4711", "2026-11-27T10:00:00Z", "https://example.com/a1b2"])(
    "a server that receives the token %j changes no text of another server, of the model or of the host",
    (token) => {
      const secrets = knownSecrets();
      issue(token, secrets, "evil");
      const value = { text: `The value is ${token}.`, [token]: [token] };
      expect(secrets.of("good").withoutSecrets(value)).toBe(value);
      expect(secrets.withoutSecrets(value)).toBe(value);
      const message = { role: "tool", content: [{ type: "text", text: token }] };
      expect(secrets.messageWithoutSecrets(message)).toBe(message);
    },
  );

  test("a token is removed from the texts of its server, and from those of the user", () => {
    const secrets = knownSecrets();
    issue(commit, secrets, "evil");
    const from = { server: "good", name: "log" };
    const content = [
      { type: "text", text: commit },
      { type: "text", text: commit, from },
    ];
    expect(secrets.of("evil").withoutSecrets(commit)).toBe("[redacted]");
    expect(secrets.userTextWithoutSecrets(commit)).toBe("[redacted]");
    expect(secrets.messageWithoutSecrets({ role: "user", content: commit }).content).toBe("[redacted]");
    expect(secrets.messageWithoutSecrets({ role: "user", content }).content).toEqual([
      { type: "text", text: "[redacted]" },
      { type: "text", text: commit, from },
    ]);
  });

  test("a random value of the configuration is removed from the texts of all servers, of the model and of the host", () => {
    const secrets = knownSecrets();
    secrets.of("files").addFrom({ command: "x", env: { API_KEY: token } });
    for (const filter of [secrets, secrets.of("other"), secrets.of("files")]) {
      expect(filter.withoutSecrets(`It is ${token}.`)).toBe("It is [redacted].");
    }
  });

  test.each([
    "AKIAQYLPMN5HFIZRXDTE",
    "9b2f1c34-5a6b-4c7d-8e9f-aabbccddeeff",
    "glpat-AbXkEfGqIjKzMnOpQrSt",
    "sk-proj-abcdefghijklmnop7qrstuv",
  ])("the random value %s is removed from the texts of other servers", (value) => {
    const secrets = knownSecrets();
    secrets.of("files").addFrom({ command: "x", env: { API_KEY: value } });
    expect(secrets.of("other").withoutSecrets(`<${value}>`)).toBe("<[redacted]>");
    expect(secrets.withoutSecrets(`<${value}>`)).toBe("<[redacted]>");
  });

  test.each(["getUserAccountSettings", "my-project-prod-2024-config", "https://login2.example.com/oauth/v2/token"])(
    "the value %s of the configuration, which is not random, changes no text of another server",
    (value) => {
      const secrets = knownSecrets();
      secrets.of("files").addFrom({ command: "x", env: { AUTH_NAME: value } });
      expect(secrets.of("other").withoutSecrets(`<${value}>`)).toBe(`<${value}>`);
    },
  );

  test("another value of the configuration is removed from the texts of its server only", () => {
    const secrets = knownSecrets();
    secrets.of("files").addFrom({ command: "x", env: { DB_PASSWORD: "hunter22" } });
    expect(secrets.of("files").withoutSecrets("hunter22")).toBe("[redacted]");
    expect(secrets.of("other").withoutSecrets("hunter22")).toBe("hunter22");
    expect(secrets.withoutSecrets("hunter22")).toBe("hunter22");
  });

  test("tokens of one server do not displace those of another one", () => {
    const secrets = knownSecrets();
    secrets.of("good").add(token);
    for (let index = 0; index < 1_000; index++) secrets.of("evil").add(`token-number-${index}x`);
    expect(secrets.of("good").withoutSecrets(token)).toBe("[redacted]");
  });
});

test.each([
  ["postgres", false],
  ["Development", false],
  ["PRODUCTION", false],
  ["пользователь", false],
  ["read-only", false],
  ["/etc/keys/server.pem", false],
  ["C:\\Users\\ann\\keys", false],
  ["localhost:5432", false],
  ["12345", false],
  ["a1b2c", false],
  ["hunter22", true],
  ["123456", true],
  ["pässw0rt", true],
  ["correct horse battery staple", true],
  ["qwlkejrhtzmxncbvqpwoei", true],
  ["abcdefghijklmnop", true],
  ["authentication", false],
  ["kQzXvBnMlPo", true],
  ["p@ssword", true],
  ["!?!?!?", true],
])("the value %j of a password is a secret: %j", (value, isSecret) => {
  const secrets = knownSecrets().of("notes");
  secrets.addFrom({ command: "x", env: { PGPASSWORD: value } });
  secrets.add(value);
  expect(secrets.withoutSecrets(`<${value}>`)).toBe(isSecret ? "<[redacted]>" : `<${value}>`);
});

test.each([
  ["postgres://ann:postgres@db/o", "postgres://ann[redacted]db/o"],
  ["PGPASSWORD=postgres psql", "PG[redacted] psql"],
  ["password=postgres user=ann", "[redacted] user=ann"],
  ['{"user":"ann","password":"postgres"}', '{"user":"ann",[redacted]}'],
  ['{ "password": "postgres" }', "{ [redacted] }"],
  ["The postgres server stores passwords.", "The postgres server stores passwords."],
])("a password that is an ordinary word is removed where the text shows that it is one: %s", (text, expected) => {
  const secrets = knownSecrets();
  secrets.of("notes").addFrom({ command: "x", args: ["postgres://ann:postgres@db/o"] });
  expect(secrets.of("notes").withoutSecrets(text)).toBe(expected);
  expect(secrets.of("other").withoutSecrets(text)).toBe(text);
});

describe("names and URIs with a secret", () => {
  const listed = [
    { uri: "note:hunter22/a", name: "hunter22" },
    { uri: "note:hunter22/b", name: "b" },
  ];

  test("they are listed without it, and have their originals", () => {
    const secrets = knownSecrets().of("notes");
    secrets.add("hunter22");
    const tools = [{ name: "read_hunter22" }, { name: "read" }];
    expect(secrets.listWithoutSecrets(listed)).toEqual([
      { uri: "note:[redacted]/a", name: "[redacted]" },
      { uri: "note:[redacted]/b", name: "b" },
    ]);
    expect(secrets.listWithoutSecrets(tools).map(({ name }) => name)).toEqual(["read_[redacted]", "read"]);
    for (const { uri } of listed) expect(secrets.originalOf(uri.replace("hunter22", "[redacted]"))).toBe(uri);
    expect(secrets.originalOf("read_[redacted]")).toBe("read_hunter22");
    expect(secrets.originalOf("read")).toBe("read");
    expect(secrets.originalOf("[redacted]")).toBe("[redacted]");
  });

  test("two that are the same without it get a number", () => {
    const secrets = knownSecrets().of("notes");
    for (const secret of ["hunter22", "hunter33"]) secrets.add(secret);
    const tools = [{ name: "hunter22" }, { name: "[redacted]" }, { name: "hunter33" }];
    const names = secrets.listWithoutSecrets(tools).map(({ name }) => name);
    expect(names).toEqual(["[redacted]_2", "[redacted]", "[redacted]_3"]);
    expect(names.map(secrets.originalOf)).toEqual(["hunter22", "[redacted]", "hunter33"]);
  });

  test("those of another server are unknown, and the oldest of 10,001 is forgotten", () => {
    const secrets = knownSecrets();
    secrets.of("notes").add("hunter22");
    const names = Array.from({ length: 10_001 }, (_, index) => ({ name: `hunter22-${index}` }));
    secrets.of("notes").listWithoutSecrets(names);
    expect(secrets.of("notes").originalOf("[redacted]-0")).toBe("[redacted]-0");
    expect(secrets.of("notes").originalOf("[redacted]-1")).toBe("hunter22-1");
    expect(secrets.of("other").originalOf("[redacted]-1")).toBe("[redacted]-1");
    secrets.of("notes").listWithoutSecrets([{ name: "hunter22-1" }]);
    secrets.of("notes").listWithoutSecrets([{ name: "hunter22-new" }]);
    expect(secrets.of("notes").originalOf("[redacted]-1")).toBe("hunter22-1");
    expect(secrets.of("notes").originalOf("[redacted]-2")).toBe("[redacted]-2");
  });
});

test("hides a secret in the stack of an error whose message has none", () => {
  const secrets = knownSecrets().of("notes");
  secrets.add(token);
  const error = new Error("failed");
  error.stack = `Error: failed\n    at file:///srv/${token}/server.js:1:1`;
  const hidden = secrets.withoutSecrets(error);
  expect(hidden.stack).toBe("Error: failed\n    at file:///srv/[redacted]/server.js:1:1");
  expect(hidden.message).toBe("failed");
});

test.each<[string, () => Error]>([
  ["one of the errors of an AggregateError", () => new AggregateError([new Error(token)], "m")],
  [
    "an AggregateError without a message, as a cause",
    () => new Error("m", { cause: new AggregateError([new Error(token)]) }),
  ],
  ["a hidden member", () => Object.defineProperty(new Error("m"), "sent", { value: token, enumerable: false })],
  ["a URL", () => Object.assign(new Error("m"), { url: new URL(`https://example.com/?key=${token}`) })],
])("hides a secret in an error: %s", (_, makeError) => {
  const secrets = knownSecrets().of("notes");
  secrets.add(token);
  const error = makeError();
  const hidden = secrets.withoutSecrets(error);
  expect(inspect(hidden, { depth: 9, showHidden: true })).not.toContain(token);
  expect(hidden).toBeInstanceOf(error.constructor);
  expect(inspect(error, { depth: 9, showHidden: true })).toContain(token);
});

test("keeps the code of a DOMException, and that hidden members are hidden", () => {
  const secrets = knownSecrets().of("notes");
  secrets.add(token);
  expect(secrets.withoutSecrets(new DOMException(token, "AbortError")).code).toBe(20);
  const hidden = secrets.withoutSecrets(new AggregateError([new Error(token)], "m"));
  expect(hidden.errors).toMatchObject([{ message: "[redacted]" }]);
  expect(Object.keys(hidden)).toEqual([]);
});

test.each([5_000, 100_000])("reads a value of %i levels without exhausting the stack", (levels) => {
  const secrets = knownSecrets().of("notes");
  secrets.add(token);
  for (const wrap of [(value: unknown) => [value], (value: unknown) => ({ value })]) {
    let deep: unknown = token;
    for (let level = 0; level < levels; level++) deep = wrap(deep);
    const shown = secrets.withoutSecrets({ list: [deep], text: token });
    expect(JSON.stringify(shown)).toMatch(/more than 150 levels.*\[redacted\]/);
    expect(secrets.withoutSecrets(new LocalError("http", "m", { data: deep })).message).toBe("m");
  }
});
