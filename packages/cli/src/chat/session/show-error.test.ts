import { LocalError } from "mcparley";
import { expect, test } from "vitest";
import { UsageError } from "../../terminal/io.ts";
import { styleFor } from "../../terminal/text.ts";
import type { ChatTerminal } from "../../terminal/interactive/terminal.ts";
import { showError } from "./show-error.ts";

function shown(error: unknown): string[] {
  const lines: string[] = [];
  const view: ChatTerminal["view"] = { terminal: true, width: 80, style: styleFor(false, {}) };
  const terminal: Pick<ChatTerminal, "view" | "note"> = { view, note: (text) => void lines.push(text) };
  showError(error, { terminal });
  return lines;
}

function unavailable(code: LocalError["code"], message: string, cause?: Error): LocalError {
  return new LocalError(code, message, { data: { safeToRepeat: true, server: "notes" }, cause });
}

test.each<[string, LocalError, string[]]>([
  [
    "that has failed",
    unavailable("exited", 'Server "notes" cannot be used. It exited. Call reconnect().', new Error("It exited.")),
    ['The server "notes" cannot be used. It exited.', "  Connect it now with /servers reconnect notes"],
  ],
  [
    "that requires a sign-in",
    unavailable("sign_in_required", "Call signIn().", new Error("No token.")),
    ['The server "notes" requires a sign-in. No token.', "  Sign in with /servers sign-in notes"],
  ],
  [
    "that refuses the token of the sign-in",
    unavailable(
      "unauthorized",
      "Call reconnect().",
      new LocalError("unauthorized", "Wrong audience.", {
        data: { status: 401, challenge: 'Bearer error="invalid_token"' },
      }),
    ),
    [
      'The server "notes" refused the token of your sign-in. Wrong audience.',
      "  The operator of the server can check which issuers and audiences it accepts.\n  To get a new token, use /servers sign-in notes",
    ],
  ],
  [
    "that refuses the client of the sign-in",
    unavailable(
      "sign_in_required",
      "Call signIn().",
      new LocalError("sign_in_failed", "invalid_client (Go away).", {
        cause: new LocalError("authorization_failed", "invalid_client", { data: { error: "invalid_client" } }),
      }),
    ),
    [
      'The server "notes" requires a sign-in. invalid_client (Go away).',
      "  Register a client with the authorization server, and sign in as this client:\n  mcparley login TARGET --client-id ID --client-secret-env NAME",
    ],
  ],
  [
    "that requires more scopes",
    new LocalError("sign_in_required", "Call signIn().", { data: { server: "notes", missingScopes: ["a", "b"] } }),
    ['The server "notes" requires scopes that you have not granted: a b.', "  Sign in with /servers sign-in notes a b"],
  ],
  [
    "that is disabled",
    unavailable("closed", "Call enable()."),
    ['The server "notes" is off.', "  Connect it with /servers on notes"],
  ],
])("names the command that connects a server %s", (_, error, lines) => {
  expect(shown(error)).toEqual(lines);
});

test.each<[string, unknown, string[]]>([
  ["its hint", new UsageError("No.", "Try yes."), ["No.", "  Try yes."]],
  ["no hint if there is none", new UsageError("No."), ["No."]],
  [
    "the command for what servers offer",
    new LocalError("not_capable", "No."),
    ["No.", "  /servers shows what each server offers."],
  ],
  ["other errors as they are", new LocalError("timeout", "Late."), ["Late."]],
  ["control characters escaped", new Error("a\u001b[2J"), ["a\\x1b[2J"]],
  ["other values as text", "text", ["text"]],
])("shows %s", (_, error, lines) => {
  expect(shown(error)).toEqual(lines);
});
