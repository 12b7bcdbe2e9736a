import { LocalError, printable, printableJson } from "mcparley";
import { Reported } from "../../commands/connection/report-error.ts";
import { withOptionNames } from "../../targets/option-names.ts";
import { UsageError } from "../../terminal/io.ts";
import {
  hasNoSignIn,
  isClientRefusal,
  isTokenRefusal,
  missingScopes,
  registerClient,
  tokenOption,
} from "../../targets/sign-in/refused-access.ts";
import { paragraph } from "../../terminal/screen.ts";
import type { ChatTerminal } from "../../terminal/interactive/terminal.ts";

/** Shows why a command or a message failed, with the cure if it is known. */
export function showError(error: unknown, { terminal }: { terminal: Pick<ChatTerminal, "view" | "note"> }): void {
  if (error instanceof Reported) return;
  const { view } = terminal;
  const { text, hint } = explain(error);
  terminal.note(view.style.red(paragraph(printable(withOptionNames(text)), view)));
  if (hint !== undefined) terminal.note(paragraph(printable(hint), view, "  "));
}

interface Explained {
  readonly text: string;
  readonly hint?: string | undefined;
}

function explain(error: unknown): Explained {
  if (!(error instanceof Error)) return { text: String(error) };
  if (error instanceof UsageError) return { text: error.message, hint: error.hint };
  if (!(error instanceof LocalError)) return { text: error.message };
  if (error.code === "sign_in_failed" && isClientRefused(error)) return { text: error.message, hint: registerClient };
  if (error.code === "not_capable") return { text: error.message, hint: "/servers shows what each server offers." };
  return isUnavailable(error.data) ? explainUnavailable(error, error.data.server) : { text: error.message };
}

/** Whether the reason of a failed sign-in is that the authorization server does not accept the client. */
function isClientRefused(error: unknown): boolean {
  return error instanceof Error && (isClientRefusal(error) || isClientRefused(error.cause));
}

/** Whether these are the data of an error about a server without a connection. */
function isUnavailable(data: unknown): data is { server: string } {
  return typeof data === "object" && data !== null && "server" in data && typeof data.server === "string";
}

/** Explains an error about a server without a connection. Its message names functions of the host, and the cure here is a command. */
function explainUnavailable(error: LocalError, server: string): Explained {
  const { code, cause } = error;
  const subject = `The server ${printableJson(server)}`;
  const scopes = missingScopes(error)?.join(" ");
  if (scopes !== undefined) {
    const text = `${subject} requires scopes that you have not granted: ${scopes}.`;
    return { text, hint: `Sign in with /servers sign-in ${server} ${scopes}` };
  }
  const reason = cause instanceof Error ? ` ${cause.message}` : "";
  if (code === "sign_in_required") {
    if (hasNoSignIn(cause))
      return { text: `${subject} cannot be used.${reason}`, hint: `Start the chat with ${tokenOption}` };
    const hint = isClientRefused(cause) ? registerClient : `Sign in with /servers sign-in ${server}`;
    return { text: `${subject} requires a sign-in.${reason}`, hint };
  }
  if (cause instanceof Error && isTokenRefusal(cause)) {
    const cure = `The operator of the server can check which issuers and audiences it accepts. To get a new token, use /servers sign-in ${server}`;
    return { text: `${subject} refused the token of your sign-in.${reason}`, hint: cure };
  }
  if (reason === "") return { text: `${subject} is off.`, hint: `Connect it with /servers on ${server}` };
  return { text: `${subject} cannot be used.${reason}`, hint: `Connect it now with /servers reconnect ${server}` };
}
