import { Writable } from "node:stream";
import { LocalError } from "mcparley";
import { describe, expect, test } from "vitest";
import { runClientCommand } from "./run.ts";
import { cancelledTools, exampleServer, hostile } from "./testing/example-server.ts";
import { fakeIo, runWith } from "./testing/fake-io.ts";

const server = exampleServer();
const url = "http://127.0.0.1:1/mcp";

// oxlint-disable-next-line no-control-regex -- this is what must not appear
const control = /\u001b\[(?!\d*m|2K)|[\u0000-\u0008\u000b\u000c\u000e-\u001a]/;

describe("Ctrl-C and broken pipes", () => {
  test("cancels the call at the first Ctrl-C, and notifies the server", async () => {
    cancelledTools.length = 0;
    const io = fakeIo({ server });
    const done = runClientCommand("call", [url, "wait"], io);
    await io.seen("waiting");
    io.pressCtrlC();
    expect(await done).toBe(130);
    expect(cancelledTools).toEqual(["wait"]);
    expect(io.err()).toContain("Stopping. Press Ctrl-C again to exit immediately.");
    expect(io.out()).toBe("");
  });

  test("returns immediately at the second Ctrl-C, before the connection is closed", async () => {
    const never = (() => new Promise(() => {})) as unknown as NonNullable<Parameters<typeof fakeIo>[0]>["connect"];
    const io = fakeIo(never ? { connect: never } : {});
    const done = runClientCommand("list", [url], io);
    await new Promise((resolve) => setImmediate(resolve));
    io.pressCtrlC();
    io.pressCtrlC();
    expect(await done).toBe(130);
  });

  test("ends without an error when the reader of stdout closes the pipe", async () => {
    const io = fakeIo({ server });
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
    });
    expect(await runClientCommand("list", [url], { ...io, stdout })).toBe(0);
    expect(io.err()).toBe("");
  });
});

describe("errors", () => {
  test.each([
    ["unauthorized", 3, `mcparley login ${url}`],
    ["unauthorized", 3, '--header "Authorization: Bearer TOKEN"'],
    ["sign_in_required", 3, `mcparley login ${url}`],
    ["sign_in_failed", 3, `mcparley login ${url}`],
    ["unreachable", 4, ""],
    ["timeout", 6, "--timeout"],
  ] as const)("%s exits with %i", async (reason, exitCode, hint) => {
    const connect = (() => Promise.reject(new LocalError(reason, "It went wrong."))) as never;
    const plain = await runWith({ connect }, `list ${url}`);
    expect(plain.code).toBe(exitCode);
    expect(plain.io.err()).toContain("mcparley: It went wrong.");
    expect(plain.io.err()).toContain(hint);
    const json = await runWith({ connect }, `list ${url} --json`);
    expect(JSON.parse(json.io.out()).error).toMatchObject({ code: reason, exitCode });
  });

  test("without a user, have the command that grants the missing scopes, and no URL", async () => {
    const data = { url: "https://issuer.example/", scopes: ["a", "b$(id)"], missingScopes: ["b$(id)"] };
    const connect = (() => Promise.reject(new LocalError("sign_in_required", "A user must.", { data }))) as never;
    const json = await runWith({ connect }, `list ${url} --json`);
    expect(json.code).toBe(3);
    expect(JSON.parse(json.io.out()).error).toEqual({
      code: "sign_in_required",
      message: "A user must.",
      hint: `Sign in: mcparley login ${url} --scope 'a b$(id)'`,
      help: "mcparley help sign_in_required",
      exitCode: 3,
      scopes: ["b$(id)"],
    });
  });

  test("of a sign-in that the user denied exit with 7, and of one that the issuer refused with 3", async () => {
    const denied = (error: string): never =>
      (() => Promise.reject(new LocalError("sign_in_failed", "Denied.", { data: { error } }))) as never;
    expect((await runWith({ connect: denied("access_denied") }, `list ${url}`)).code).toBe(7);
    const refused = await runWith({ connect: denied("invalid_scope") }, `list ${url}`);
    expect(refused.code).toBe(3);
    expect(refused.io.err()).toContain(`Sign in with other scopes: mcparley login ${url} --scope "SCOPE ..."`);
  });

  test("cannot control the terminal if they contain text of a server", async () => {
    const connect = (() => Promise.reject(new LocalError("http", hostile))) as never;
    const { io } = await runWith({ connect, terminal: true }, `list ${url} --verbose`);
    expect(io.err()).not.toMatch(control);
  });

  test("suggest a known command for an unknown one", async () => {
    const { code, io } = await runWith({ server }, "lsit");
    expect(code).toBe(1);
    expect(io.err()).toContain('Did you mean "list"?');
  });
});
