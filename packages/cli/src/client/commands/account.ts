import { LocalError } from "mcparley";
import type { SignedInAccount } from "mcparley/auth";
import { requireNoMore } from "../arguments.ts";
import { type View, printJson, printText } from "../screen.ts";
import type { AccountCommand } from "../session.ts";
import { type OpenAuthorization, openAuthorization, serverOf } from "../sign-in/authorization.ts";
import { rememberClient } from "../sign-in/credentials.ts";
import { visibleLine } from "../terminal-text.ts";

export const loginCommand: AccountCommand = {
  usage: "TARGET",
  summary: "sign in to a server",
  details: [
    "Opens a browser in which you sign in and grant scopes. The browser redirects to a port of this machine, for which the " +
      "command waits. With --no-browser, visit the address that is shown, on any machine, and paste the address at which " +
      "the browser ends. If you are signed in already, you sign in again, for example to get other scopes.",
    "The secret of a client is read from the environment, because other programs can see the words of a command. It is " +
      "stored with the tokens until logout.",
  ],
  examples: [
    "mcparley login https://example.com/mcp",
    'mcparley login notes --scope "notes:read notes:write"',
    "mcparley login notes --client-id ID --client-secret-env SECRET",
  ],
  async run(words, setting) {
    requireNoMore(words, "login accepts only TARGET");
    const at = serverOf(setting.target, "login");
    const { server } = at;
    const authorization = await openAuthorization({ ...setting, ...at, isAskedFor: true });
    const { oauth, storage, client } = authorization;
    await oauth.signIn(server, { signal: setting.stop.signal, newClient: setting.options.newClient });
    await rememberClient(storage, server, client);
    const account = await accountAt(server, authorization);
    const { screen, options } = setting;
    const as = account.subject === undefined ? "" : ` as ${account.subject}`;
    if (options.json) await printJson(account, { screen });
    else await printText(visibleLine(`Signed in to ${server}${as}, at ${account.issuer}.`), { screen });
  },
};

const outcomes = {
  revoked: "Signed out of SERVER. The tokens were revoked.",
  forgotten:
    "Signed out of SERVER. The tokens were deleted here. The authorization server cannot revoke them, so they remain valid until they expire.",
  not_signed_in: "You were not signed in to SERVER.",
} as const;

export const logoutCommand: AccountCommand = {
  usage: "TARGET",
  summary: "sign out of a server",
  details: [
    "Revokes the tokens at the authorization server, if it supports that, and deletes them here. The registration of the client " +
      "is deleted too, unless you are signed in to another server with it. Your browser may stay signed in at the authorization server.",
  ],
  examples: ["mcparley logout https://example.com/mcp"],
  async run(words, setting) {
    requireNoMore(words, "logout accepts only TARGET");
    const at = serverOf(setting.target, "logout");
    const { server } = at;
    const { oauth, storage } = await openAuthorization({ ...setting, ...at, isAskedFor: true });
    const outcome = await forget(server, { oauth, storage });
    const { screen, options } = setting;
    if (options.json) await printJson({ server, outcome }, { screen });
    else
      await printText(
        outcomes[outcome].replace("SERVER", () => visibleLine(server)),
        { screen },
      );
  },
};

/** Revokes the tokens with the client that received them. Deletes both in any case. */
async function forget(
  server: string,
  { oauth, storage }: Pick<OpenAuthorization, "oauth" | "storage">,
): ReturnType<OpenAuthorization["oauth"]["signOut"]> {
  try {
    return await oauth.signOut(server);
  } finally {
    await rememberClient(storage, server, undefined);
  }
}

export const whoamiCommand: AccountCommand = {
  usage: "TARGET",
  summary: "show your account at a server",
  details: [
    "Shows what was stored when you signed in, without a request to the server. Tokens are never shown. Exits with 3 if you " +
      "are not signed in.",
  ],
  examples: ["mcparley whoami https://example.com/mcp", "mcparley whoami https://example.com/mcp --json"],
  async run(words, setting) {
    requireNoMore(words, "whoami accepts only TARGET");
    const at = serverOf(setting.target, "whoami");
    const { server } = at;
    const account = await accountAt(server, await openAuthorization({ ...setting, ...at, isAskedFor: true }));
    const { screen, options } = setting;
    if (options.json) await printJson(account, { screen });
    else await printText(showAccount(account, screen.out), { screen });
  },
};

/** The shown facts of an account. None of them is secret. */
interface ShownAccount extends Omit<SignedInAccount, "expiresAt"> {
  /** ISO 8601. Undefined if the server does not send it. */
  readonly expiresAt: string | undefined;
  readonly keptIn: string;
  readonly keyIn: "keychain" | "file";
}

/** Returns the account at a server. Throws `LocalError` `sign_in_required` if there is none. */
async function accountAt(server: string, { oauth, place }: OpenAuthorization): Promise<ShownAccount> {
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

/** Returns an account as lines of text. */
function showAccount(account: ShownAccount, { style }: View, now: number = Date.now()): string {
  const { server, issuer, subject, clientId, scopes, keptIn, keyIn } = account;
  const key = keyIn === "keychain" ? "the system's keychain" : "a file beside it";
  const rows: [string, string][] = [
    ["Server", server],
    ["Issuer", issuer],
    ["Subject", subject ?? "(not sent by the authorization server)"],
    ["Client", clientId],
    ["Scopes", scopes === undefined ? "(not sent by the authorization server)" : scopes.join(" ") || "(none)"],
    ["Expires", expiry(account, now)],
    ["Stored", `${keptIn} (encrypted, with its key in ${key})`],
  ];
  return rows.map(([label, text]) => `${style.bold(label.padEnd(8))} ${visibleLine(text)}`).join("\n");
}

function expiry({ expiresAt, isRenewable }: ShownAccount, now: number): string {
  const renewal = isRenewable ? ", renewed automatically" : ", not renewed: sign in again then";
  if (expiresAt === undefined) return `(not sent by the authorization server)${renewal}`;
  const minutes = Math.ceil((Date.parse(expiresAt) - now) / 60_000);
  const when = minutes > 0 ? `in ${minutes} minute${minutes === 1 ? "" : "s"}` : "expired";
  return `${expiresAt} (${when})${renewal}`;
}
