import { LocalError } from "mcparley";
import type { SignedInAccount } from "mcparley/auth";
import { safeUrl } from "@mcparley/internal/secret-values";
import type { HttpConnection } from "mcparley/client";
import type { OpenAuthorization } from "../../targets/sign-in/authorization.ts";
import { UsageError } from "../../terminal/io.ts";
import type { Words } from "../../terminal/options.ts";
import { requireNoMore } from "../arguments/arguments.ts";
import { chooseTarget } from "./session.ts";

/** A server at which the user can have an account. */
export interface HttpServer {
  readonly server: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connection: HttpConnection | undefined;
}

/** Returns the server of a command about the account of the user. Throws `UsageError` for a program. */
export async function chooseHttpServer(
  { name: command, sendsNothing }: { readonly name: string; readonly sendsNothing?: boolean },
  words: Words,
  setting: Parameters<typeof chooseTarget>[1],
): Promise<HttpServer> {
  const { target, argumentWords } = await chooseTarget(words, setting, sendsNothing);
  requireNoMore(argumentWords, `${command} accepts only TARGET`);
  if (target.kind === "url") return { server: target.url, headers: target.headers, connection: target.connection };
  throw new UsageError(
    `${command} applies to servers at a URL. "${target.command}" is a program to start.`,
    "Pass its credentials as environment variables: --env NAME=VALUE",
  );
}

/** The facts of an account. None of them is secret. */
export interface Account extends Omit<SignedInAccount, "expiresAt"> {
  /** ISO 8601. Undefined if the server does not send it. */
  readonly expiresAt: string | undefined;
  readonly keptIn: string;
  readonly keyIn: "keychain" | "file";
}

/** The latest time of a `Date`, in milliseconds. */
const latest = 8.64e15;

/** Returns the account at a server. Throws `LocalError` `sign_in_required` if there is none. */
export async function accountAt(server: string, { oauth, place }: OpenAuthorization): Promise<Account> {
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
