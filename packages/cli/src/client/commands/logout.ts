import { printJson, printText } from "../print-result.ts";
import type { AccountCommand } from "../session.ts";
import { type OpenAuthorization, openAuthorization, serverUrl } from "../sign-in/authorization.ts";
import { rememberClient } from "../sign-in/remembered-client.ts";
import { visibleLine } from "../terminal-text.ts";
import { requireNoMore } from "./words.ts";

const outcomes = {
  revoked: "Signed out of SERVER; the tokens were revoked.",
  forgotten:
    "Signed out of SERVER: the tokens are forgotten here. Their server cannot revoke them, so they end by themselves.",
  not_signed_in: "You were not signed in to SERVER.",
} as const;

export const logoutCommand: AccountCommand = {
  usage: "TARGET",
  summary: "sign out of a server",
  details: [
    "The tokens are revoked at the authorization server, where it can do that, and forgotten here. Your browser may stay " +
      "signed in at the authorization server.",
  ],
  examples: ["mcparley logout https://example.com/mcp"],
  async run(words, setting) {
    requireNoMore(words, "logout takes a TARGET");
    const server = serverUrl(setting.target, "logout");
    const { oauth, storage } = await openAuthorization({ ...setting, server, isAskedFor: true });
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

/** Gives the tokens back, for which the client is needed that they were given to, and forgets both in any case. */
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
