import { LocalError, printableJson, type Clock } from "mcparley";
import type { CredentialStorage, OAuth, SignIn } from "mcparley/auth";
import type { HttpAuth, HttpAuthRefusal, HttpTarget } from "mcparley/client";
import type { ResolvedEntry } from "./resolve-entry.ts";

/** The sign-in of the user, and the storage of the tokens. */
export interface SignInSetting {
  /** Asks the user to sign in. If omitted, `signIn()` rejects. */
  readonly signIn?: SignIn | undefined;
  /** Stores the tokens. Default: in memory, for this server of this host. */
  readonly credentials?: CredentialStorage | undefined;
  /** Returns a storage that observes the stored credentials, so that they can be hidden. Default: unchanged. */
  readonly watchStorage?: (storage: CredentialStorage) => CredentialStorage;
  /** Called with a line of text for each step of a sign-in or renewal, without secrets. */
  readonly onStep?: (step: string) => void;
  readonly clock: Clock;
}

/** The authorization of one server. */
export interface ServerAuth {
  /** Returns the target with its authorization. Sends no request. */
  authorize(this: void, target: HttpTarget): Promise<HttpTarget>;
  /** Throws `LocalError` `not_capable` if the server or the host has no sign-in. */
  checkSignIn(this: void): void;
  /** Signs the user in. */
  signIn(this: void, signal: AbortSignal): Promise<void>;
}

/**
 * Returns the authorization of a server over HTTP that has neither `auth` nor an `authorization` header.
 *
 * A page for the sign-in is only opened during `signIn`. At all other times a server that requires a sign-in makes the
 * connection fail with `sign_in_required`, so no connection in the background opens a browser.
 */
export function serverAuth({ name, server }: ResolvedEntry, setting: SignInSetting): ServerAuth {
  const shown = printableJson(name);
  if (server.kind !== "http") return withoutSignIn(`Server ${shown} is not used over HTTP, so it has no sign-in.`);
  if (server.target.auth || hasAuthorization(server.target)) {
    return withoutSignIn(`Server ${shown} has its own \`auth\` or an \`authorization\` header. Change that instead.`);
  }
  const { url, connection } = server.target;
  /** The number of running sign-ins. One that was aborted can end after the start of the next one. */
  let signIns = 0;
  /** The scopes that the server required for a call and the token has not. */
  let missing = new Set<string>();
  let loading: Promise<OAuth> | undefined;
  const gated: SignIn = {
    prepare(previous) {
      if (signIns > 0 && setting.signIn) return setting.signIn.prepare(previous);
      const cure = setting.signIn ? "Call signIn() of the server." : "Pass `signIn` to createHost.";
      return Promise.reject(new LocalError("sign_in_required", `Server ${shown} requires a sign-in. ${cure}`));
    },
  };
  // Servers without HTTP do not need the code of the authorization.
  const load = (): Promise<OAuth> =>
    (loading ??= import("mcparley/auth").then(({ memoryCredentials, oauth }) => {
      const { credentials = memoryCredentials(), clock, watchStorage, onStep } = setting;
      const storage = watchStorage?.(credentials) ?? credentials;
      return oauth({ signIn: gated, clock, storage, ...(connection && { connection }), ...(onStep && { onStep }) });
    }));
  return {
    authorize: async (target) => ({
      ...target,
      auth: watchRefusals(await load(), (scopes) => scopes.forEach((scope) => missing.add(scope))),
    }),
    checkSignIn() {
      if (!setting.signIn)
        throw new LocalError("not_capable", `The host has no sign-in. Pass \`signIn\` to createHost.`);
    },
    async signIn(signal) {
      const auth = await load();
      signIns++;
      try {
        // Scopes of earlier sign-ins are requested again, so that a sign-in for one call does not undo another one.
        const account = missing.size > 0 ? await auth.whoami(url) : undefined;
        const scopes = [...new Set([...(account?.scopes ?? []), ...missing])];
        await auth.signIn(url, { signal, ...(scopes.length > 0 && { scope: scopes.join(" ") }) });
        missing = new Set();
      } finally {
        signIns--;
      }
    },
  };
}

/** Calls `onMissing` with the scopes of a refusal that requires more of them (RFC 6750, 3.1). */
function watchRefusals(auth: HttpAuth, onMissing: (scopes: readonly string[]) => void): HttpAuth {
  const { extension } = auth;
  return {
    headers: (request) => auth.headers(request),
    responded: (request, response) => auth.responded?.(request, response) ?? false,
    challenged(refusal, signal) {
      onMissing(missingScopes(refusal));
      return auth.challenged(refusal, signal);
    },
    ...(extension !== undefined && { extension }),
  };
}

function missingScopes({ status, headers }: HttpAuthRefusal): string[] {
  const challenge = headers.get("www-authenticate") ?? "";
  if (status !== 403 || !/\berror="?insufficient_scope\b/i.test(challenge)) return [];
  const [, scopes = ""] = /[\s,]scope="([^"]*)"/i.exec(challenge) ?? [];
  return scopes.split(" ").filter(Boolean);
}

/** Whether an error means that the user must sign in. */
export function isSignInError(error: unknown): boolean {
  return error instanceof LocalError && /^(unauthorized|sign_in_required|sign_in_failed)$/.test(error.code);
}

function withoutSignIn(message: string): ServerAuth {
  return {
    authorize: (target) => Promise.resolve(target),
    checkSignIn() {
      throw new LocalError("not_capable", message);
    },
    signIn: () => Promise.reject(new LocalError("not_capable", message)),
  };
}

function hasAuthorization({ headers = {} }: HttpTarget): boolean {
  return Object.keys(headers).some((header) => header.toLowerCase() === "authorization");
}
