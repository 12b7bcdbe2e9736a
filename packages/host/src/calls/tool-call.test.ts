import { LocalError, ProtocolError } from "mcparley";
import { expect, test } from "vitest";
import type { Consent } from "../consent/consent.ts";
import { toolCall } from "./tool-call.ts";

const tool = { name: "pid", inputSchema: { type: "object" as const } };
const request = {
  tool: { server: "notes", name: "notes__pid", description: "", inputSchema: {}, tool },
  arguments: {},
  origin: { callId: "1", by: "program" as const },
};
/** The data of the error about a server without a connection. */
const unavailable = { safeToRepeat: true, server: "notes" };

test.each([
  [new LocalError("exited", "/usr/bin/node exited.", { data: unavailable }), 'The server "notes" ended. Repeat', false],
  [
    new LocalError("exited", "/usr/bin/node exited.", { data: { ...unavailable, exitCode: 7 } }),
    'The server "notes" ended with code 7. Repeat',
    false,
  ],
  [new LocalError("exited", "/usr/bin/node exited."), 'The server "notes" ended before it answered', true],
  [
    new LocalError("exited", "/usr/bin/node exited.", { data: { exitCode: 7 } }),
    'The server "notes" ended with code 7 before it answered',
    true,
  ],
  [new LocalError("closed", "Call enable().", { data: unavailable }), 'The server "notes" is not available.', false],
  [new LocalError("closed", "/run/x closed."), 'The connection to the server "notes" ended before', true],
  [new LocalError("session_lost", "Expired."), 'The connection to the server "notes" ended before', true],
  [new LocalError("unreachable", 'Cannot start "/bin/x".'), 'The server "notes" cannot be reached', false],
  [new LocalError("timeout", "Increase `timeout.idle`."), 'The server "notes" did not answer within', true],
  [new LocalError("unauthorized", "401. Pass `auth`."), 'The server "notes" requires a sign-in', true],
  [
    new LocalError("sign_in_required", "Set `headers`.", { data: { ...unavailable, hasSignIn: false } }),
    "requires a token or a key in its configuration. Tell the user.",
    false,
  ],
  [
    new LocalError("sign_in_required", "Call signIn().", { data: { ...unavailable, missingScopes: ["a", "b"] } }),
    "scopes that the user has not granted: a b.",
    false,
  ],
  [
    new LocalError("declined", "Pass `renderer.trust`.", { data: unavailable }),
    'The user has not allowed the use of the server "notes".',
    false,
  ],
  [new LocalError("declined", "The user declined the scopes a."), "The user declined the scopes a.", true],
  [new LocalError("http", "Call reconnect().", { data: unavailable }), 'The server "notes" is not available.', false],
  [new LocalError("too_large", "The result has 9 MB."), "The result has 9 MB.", true],
  [new ProtocolError(-32602, "Unknown tool: pid"), "Unknown tool: pid", false],
  [new ProtocolError(-32601, "Method not found"), "Method not found", false],
  [new ProtocolError(-32603, "No disk"), "No disk", true],
  [new TypeError("No JSON"), "No JSON", true],
])("the model receives the reason of %s in words for it", (error, text, mayHaveRun) => {
  const outcome = toolCall(request, {} as Consent).outcomeOfError?.(error);
  expect(outcome).toMatchObject({ status: "failed", error, mayHaveRun });
  const message = outcome?.status === "failed" ? outcome.message : "";
  expect(message).toContain(text);
  expect(message).not.toMatch(/\w\(\)|`|\/\w/);
});

test("a call whose definition has changed since it was listed is not sent", async () => {
  const consent = { definitions: { isUsable: () => false } } as unknown as Consent;
  const steps = toolCall(request, consent);
  const client = { callToolResult: () => Promise.reject(new Error("sent")) } as never;
  const sending = (async () => steps.send(client, {}, (name) => name))();
  await expect(sending).rejects.toMatchObject({ code: "declined", data: { safeToRepeat: true } });
});

test("a result that does not match the output schema has the arguments that the user edited", async () => {
  const decision = { isAllowed: true, isEdited: true, arguments: { id: "2" } };
  const consent = { calls: { check: () => Promise.resolve(decision) } } as unknown as Consent;
  const steps = toolCall(request, consent);
  expect(await steps.admit?.({ report() {}, throwIfAborted() {} } as never)).toBeUndefined();
  const result = { content: [] };
  const error = new LocalError("invalid_result", "It does not match.", { data: { result } });
  expect(steps.outcomeOfError?.(error)).toEqual({
    status: "result",
    result,
    mismatch: "It does not match.",
    editedArguments: { id: "2" },
  });
});
