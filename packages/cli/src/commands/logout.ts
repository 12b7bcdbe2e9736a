import { LocalError } from "mcparley";
import type { SignedInAccount } from "mcparley/auth";
import { safeUrl } from "@mcparley/internal/secret-values";
import { networkOptions } from "../targets/options.ts";
import type { OpenAuthorization } from "../targets/sign-in/authorization.ts";
import { signInOptions } from "../targets/sign-in/options.ts";
import { openAuthorization } from "../targets/sign-in/session-auth.ts";
import { printJson, printText } from "../terminal/screen.ts";
import { visibleLine } from "../terminal/text.ts";
import { chooseHttpServer } from "./connection/account.ts";
import type { Command } from "./connection/command.ts";
import { targetOptions } from "./connection/options.ts";

const logoutOptions = { ...targetOptions, ...networkOptions, keychain: signInOptions.keychain } as const;

const outcomes = {
  revoked: "Signed out of SERVER. The tokens were revoked.",
  forgotten:
    "Signed out of SERVER. The tokens were deleted here, but not revoked, so they remain valid until they expire.",
  not_signed_in: "You were not signed in to SERVER.",
} as const;

export const logoutCommand: Command<typeof logoutOptions> = {
  kind: "account",
  usage: "TARGET",
  summary: "sign out of a server",
  options: logoutOptions,
  details: [
    "Revokes the tokens at the authorization server, if it supports that, and deletes them here. The registration of the client " +
      "is deleted too, unless you are signed in to another server with it. Your browser may stay signed in at the authorization server.",
    "If the revocation fails, the tokens are deleted nevertheless, and the command fails with the reason.",
  ],
  examples: ["mcparley logout https://example.com/mcp"],
  async run(words, setting) {
    const { screen } = setting;
    const httpServer = await chooseHttpServer({ name: "logout" }, words, setting);
    const { server } = httpServer;
    const authorization = await openAuthorization({ ...setting, ...httpServer, isAskedFor: true });
    const account = await authorization.oauth.whoami(server);
    const outcome = await signOut(server, authorization).catch((error: unknown) => {
      throw account ? notRevoked(error, account) : error;
    });
    if (setting.options.json) await printJson({ server: safeUrl(server), outcome }, { screen });
    else
      await printText(
        outcomes[outcome].replace("SERVER", () => visibleLine(safeUrl(server))),
        { screen },
      );
  },
};

/** Revokes the tokens with the client that received them. Deletes both in any case. */
async function signOut(
  server: string,
  { oauth, forgetClient }: OpenAuthorization,
): ReturnType<OpenAuthorization["oauth"]["signOut"]> {
  try {
    return await oauth.signOut(server);
  } finally {
    await forgetClient();
  }
}

/** Returns the error of a sign-out that deleted the tokens and did not revoke them. */
function notRevoked(error: unknown, { server, issuer }: SignedInAccount): unknown {
  if (!(error instanceof LocalError) || error.code === "unusable_storage") return error;
  const message = `The tokens for ${server} were deleted here, but not revoked: ${error.message} They remain valid until they expire.`;
  return new LocalError(error.code, message, { cause: error, data: { notRevokedAt: issuer } });
}
