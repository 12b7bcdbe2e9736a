import { LocalError } from "mcparley";
import type { Account } from "mcparley/auth";
import type { View } from "../screen.ts";
import { visibleLine } from "../terminal-text.ts";
import type { OpenAuthorization } from "./authorization.ts";

/** What is shown of an account; none of it is secret. */
export interface ShownAccount extends Omit<Account, "expiresAt"> {
  /** ISO 8601; undefined where the server does not say. */
  readonly expiresAt: string | undefined;
  readonly keptIn: string;
  readonly keyIn: "keychain" | "file";
}

/** The account at a server. Throws `LocalError` `sign_in_required` where nobody is signed in. */
export async function accountAt(server: string, { oauth, place }: OpenAuthorization): Promise<ShownAccount> {
  const account = await oauth.whoami(server);
  if (!account) throw new LocalError("sign_in_required", `You are not signed in to ${server}.`);
  const { expiresAt } = account;
  return {
    ...account,
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt).toISOString(),
    keptIn: place.folder,
    keyIn: place.usesKeychain ? "keychain" : "file",
  };
}

/** An account as lines to read. */
export function showAccount(account: ShownAccount, { style }: View, now: number = Date.now()): string {
  const { server, issuer, subject, clientId, scopes, keptIn, keyIn } = account;
  const key = keyIn === "keychain" ? "the system's keychain" : "a file beside it";
  const rows: [string, string][] = [
    ["Server", server],
    ["Issuer", issuer],
    ["Subject", subject ?? "(the authorization server does not say)"],
    ["Client", clientId],
    ["Scopes", scopes === undefined ? "(the authorization server does not say)" : scopes.join(" ") || "(none)"],
    ["Expires", expiry(account, now)],
    ["Kept in", `${keptIn} (encrypted, with its key in ${key})`],
  ];
  return rows.map(([label, text]) => `${style.bold(label.padEnd(8))} ${visibleLine(text)}`).join("\n");
}

function expiry({ expiresAt, isRenewable }: ShownAccount, now: number): string {
  const renewal = isRenewable ? ", renewed without asking you" : ", and then you sign in again";
  if (expiresAt === undefined) return `(the authorization server does not say)${renewal}`;
  const minutes = Math.ceil((Date.parse(expiresAt) - now) / 60_000);
  const when = minutes > 0 ? `in ${minutes} minute${minutes === 1 ? "" : "s"}` : "over";
  return `${expiresAt} (${when})${renewal}`;
}
