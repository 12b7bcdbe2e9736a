import { LocalError, ProtocolError } from "mcparley";
import type { OAuth, SignedInAccount } from "mcparley/auth";
import { safeUrl } from "@mcparley/internal/secret-values";
import { requireNoMore } from "../arguments.ts";
import { version } from "../io.ts";
import { type View, printJson, printText } from "../screen.ts";
import { type AccountCommand, type AccountSetting, showConnection } from "../session.ts";
import { type HttpServer, type OpenAuthorization, openAuthorization, serverOf } from "../sign-in/authorization.ts";
import { rememberClient } from "../sign-in/credentials.ts";
import { visibleLine } from "../terminal-text.ts";

export const loginCommand: AccountCommand = {
  usage: "TARGET",
  summary: "sign in to a server",
  details: [
    "Opens a browser, waits until it is redirected to a port of this machine, and sends a request to the server with the new " +
      "tokens. With --no-browser, you visit the address on any machine and paste the one at which the browser ends. Without a " +
      "terminal, it shows the address and waits, up to --timeout (10m). If you are signed in, you sign in again.",
    'With --json, the first line is {"url": "..."} and the last one is the account or the error. The secret of a client is ' +
      "read from the environment, because other programs can see the words of a command.",
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
    const { screen, options, stop } = setting;
    stop.limit(options.timeout);
    const authorization = await openAuthorization({ ...setting, ...at, isAskedFor: true });
    const { oauth, storage, client } = authorization;
    await oauth.signIn(server, { signal: stop.signal, newClient: options.newClient });
    await rememberClient(storage, server, client);
    await sendAuthorized(oauth, at, setting);
    const account = await accountAt(server, authorization);
    const as = account.subject === undefined ? "" : ` as ${account.subject}`;
    if (options.json) await printJson(account, { screen }, "line");
    else await printText(visibleLine(`Signed in to ${account.server}${as}, at ${account.issuer}.`), { screen });
  },
};

/** Connects with the new tokens, so that a server that refuses them is noticed now. Rejects with its reason. */
async function sendAuthorized(
  auth: OAuth,
  { server: url, headers, connection }: HttpServer,
  { io, stop, screen, options }: AccountSetting,
): Promise<void> {
  try {
    const info = { name: "mcparley", version };
    const target = { url, headers, ...(connection && { connection }) };
    const client = await io.connect(target, { auth, info, signal: stop.signal });
    if (options.verbose) showConnection(client, screen);
    await client.close();
  } catch (error) {
    // A server that answers with an error of the protocol has accepted the token.
    if (!(error instanceof ProtocolError)) throw error;
  }
}

const outcomes = {
  revoked: "Signed out of SERVER. The tokens were revoked.",
  forgotten:
    "Signed out of SERVER. The tokens were deleted here, but not revoked, so they remain valid until they expire.",
  not_signed_in: "You were not signed in to SERVER.",
} as const;

export const logoutCommand: AccountCommand = {
  usage: "TARGET",
  summary: "sign out of a server",
  details: [
    "Revokes the tokens at the authorization server, if it supports that, and deletes them here. The registration of the client " +
      "is deleted too, unless you are signed in to another server with it. Your browser may stay signed in at the authorization server.",
    "If the revocation fails, the tokens are deleted nevertheless, and the command fails with the reason.",
  ],
  examples: ["mcparley logout https://example.com/mcp"],
  async run(words, setting) {
    requireNoMore(words, "logout accepts only TARGET");
    const at = serverOf(setting.target, "logout");
    const { server } = at;
    const { oauth, storage } = await openAuthorization({ ...setting, ...at, isAskedFor: true });
    const account = await oauth.whoami(server);
    const outcome = await forget(server, { oauth, storage }).catch((error: unknown) => {
      throw account ? notRevoked(error, account) : error;
    });
    const { screen, options } = setting;
    if (options.json) await printJson({ server: safeUrl(server), outcome }, { screen });
    else
      await printText(
        outcomes[outcome].replace("SERVER", () => visibleLine(safeUrl(server))),
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

/** Returns the error of a sign-out that deleted the tokens and did not revoke them. */
function notRevoked(error: unknown, { server, issuer }: SignedInAccount): unknown {
  if (!(error instanceof LocalError) || error.code === "unusable_storage") return error;
  const message = `The tokens for ${server} were deleted here, but not revoked: ${error.message} They remain valid until they expire.`;
  return new LocalError(error.code, message, { cause: error, data: { notRevokedAt: issuer } });
}

export const whoamiCommand: AccountCommand = {
  sendsNothing: true,
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

/** The latest time of a `Date`, in milliseconds. */
const latest = 8.64e15;

/** Returns the account at a server. Throws `LocalError` `sign_in_required` if there is none. */
async function accountAt(server: string, { oauth, place }: OpenAuthorization): Promise<ShownAccount> {
  const account = await oauth.whoami(server);
  if (!account) throw new LocalError("sign_in_required", `You are not signed in to ${server}.`);
  const { expiresAt } = account;
  return {
    ...account,
    server: safeUrl(account.server),
    resource: safeUrl(account.resource),
    expiresAt: expiresAt === undefined || expiresAt > latest ? undefined : new Date(expiresAt).toISOString(),
    keptIn: place.folder,
    keyIn: place.usesKeychain ? "keychain" : "file",
  };
}

/** Returns an account as lines of text. */
function showAccount(account: ShownAccount, { style }: View, now: number = Date.now()): string {
  const { server, issuer, subject, clientId, scopes, isBound, keptIn, keyIn } = account;
  const key = keyIn === "keychain" ? "the system's keychain" : "a file beside it";
  const rows: (readonly [string, string])[] = [
    ["Server", server],
    ["Issuer", issuer],
    ["Subject", subject ?? "(not sent by the authorization server)"],
    ["Client", clientId],
    ["Scopes", scopes === undefined ? "(not sent by the authorization server)" : scopes.join(" ") || "(none)"],
    ["Expires", expiry(account, now)],
    ...(isBound ? ([["Bound", "to a key of this machine (DPoP)"]] as const) : []),
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
