import { signInOptions } from "../targets/sign-in/options.ts";
import { openAuthorization } from "../targets/sign-in/session-auth.ts";
import { type View, printJson, printText } from "../terminal/screen.ts";
import { visibleLine } from "../terminal/text.ts";
import { type Account, accountAt, chooseHttpServer } from "./connection/account.ts";
import type { Command } from "./connection/command.ts";
import { targetOptions } from "./connection/options.ts";

const whoamiOptions = { ...targetOptions, keychain: signInOptions.keychain } as const;

export const whoamiCommand: Command<typeof whoamiOptions> = {
  kind: "account",
  usage: "TARGET",
  summary: "show your account at a server",
  options: whoamiOptions,
  details: [
    "Shows what was stored when you signed in, without a request to the server. Tokens are never shown. Exits with 3 if you " +
      "are not signed in.",
  ],
  examples: ["mcparley whoami https://example.com/mcp", "mcparley whoami https://example.com/mcp --json"],
  async run(words, setting) {
    const { screen } = setting;
    const httpServer = await chooseHttpServer({ name: "whoami", sendsNothing: true }, words, setting);
    const account = await accountAt(
      httpServer.server,
      await openAuthorization({ ...setting, ...httpServer, isAskedFor: true }),
    );
    if (setting.options.json) await printJson(account, { screen });
    else await printText(showAccount(account, screen.out), { screen });
  },
};

/** Returns an account as lines of text. */
function showAccount(account: Account, { style }: View, now: number = Date.now()): string {
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

function expiry({ expiresAt, isRenewable }: Account, now: number): string {
  const renewal = isRenewable ? ", renewed automatically" : ", not renewed: sign in again then";
  if (expiresAt === undefined) return `(not sent by the authorization server)${renewal}`;
  const minutes = Math.ceil((Date.parse(expiresAt) - now) / 60_000);
  const when = minutes > 0 ? `in ${minutes} minute${minutes === 1 ? "" : "s"}` : "expired";
  return `${expiresAt} (${when})${renewal}`;
}
