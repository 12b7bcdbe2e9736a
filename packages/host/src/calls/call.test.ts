import { expect, test } from "vitest";
import { ActiveCalls } from "../activity/active-calls.ts";
import { mapTexts } from "../values/map-texts.ts";
import { type CallSteps, type CalledServer, createCall } from "./call.ts";

const call = createCall({ serverOf: () => undefined, userTextWithoutSecrets: (value) => value });
const steps: CallSteps<string> = {
  server: "notes",
  method: "tools/call",
  name: "read",
  send: () => Promise.resolve("sent"),
};

test("a call of a server that was removed rejects, or has the outcome of its steps", async () => {
  await expect(call(steps)).rejects.toMatchObject({
    code: "invalid_target",
    message: 'The host has no server "notes", or it is disabled.',
  });
  expect(await call({ ...steps, outcomeIfRemoved: "removed" })).toBe("removed");
});

test("a call whose signal is aborted rejects with the reason, also if the server was removed", async () => {
  const signal = AbortSignal.abort(new Error("stopped"));
  await expect(call({ ...steps, outcomeIfRemoved: "removed" }, { signal })).rejects.toThrow("stopped");
});

test("a request that is not sent has no secret of the user, and one that is sent has none of its server", async () => {
  const hide = (secret: string) => {
    return <T>(value: T): T => mapTexts(value, { text: (text) => text.replaceAll(secret, "[redacted]") });
  };
  const server: CalledServer = {
    secrets: { withoutSecrets: hide("server-key"), originalOf: (name) => name },
    calls: new ActiveCalls(),
    timeout: undefined,
    use: (work) => work({} as never),
  };
  const callServer = createCall({ serverOf: () => server, userTextWithoutSecrets: hide("user-key") });
  const text = "user-key server-key";
  expect(await callServer({ ...steps, admit: () => Promise.resolve(text) })).toBe("[redacted] server-key");
  expect(await callServer({ ...steps, send: () => Promise.resolve(text) })).toBe("user-key [redacted]");
});
