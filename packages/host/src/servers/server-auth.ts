import { LocalError, printableJson, type Clock } from "mcparley";
import type { CredentialStorage, OAuth, SignIn } from "mcparley/auth";
import type { HttpTarget } from "mcparley/client";
import type { ResolvedEntry } from "./resolve-entry.ts";

/** The sign-in of the user, and the storage of the tokens. */
export interface SignInSetting {
  /** Asks the user to sign in. If omitted, `signIn()` rejects. */
  readonly signIn?: SignIn | undefined;
  /** Stores the tokens. Default: in memory, for this server of this host. */
  readonly credentials?: CredentialStorage | undefined;
  /** Returns a storage that observes the stored credentials, so that they can be hidden. Default: unchanged. */
  readonly watchStorage?: (storage: CredentialStorage) => CredentialStorage;
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
  let isSigningIn = false;
  let loading: Promise<OAuth> | undefined;
  const gated: SignIn = {
    prepare(previous) {
      if (isSigningIn && setting.signIn) return setting.signIn.prepare(previous);
      const cure = setting.signIn ? "Call signIn() of the server." : "Pass `signIn` to createHost.";
      return Promise.reject(new LocalError("sign_in_required", `Server ${shown} requires a sign-in. ${cure}`));
    },
  };
  // Servers without HTTP do not need the code of the authorization.
  const load = (): Promise<OAuth> =>
    (loading ??= import("mcparley/auth").then(({ memoryCredentials, oauth }) => {
      const { credentials = memoryCredentials(), clock, watchStorage } = setting;
      const storage = watchStorage?.(credentials) ?? credentials;
      return oauth({ signIn: gated, clock, storage, ...(connection && { connection }) });
    }));
  return {
    authorize: async (target) => ({ ...target, auth: await load() }),
    checkSignIn() {
      if (!setting.signIn)
        throw new LocalError("not_capable", `The host has no sign-in. Pass \`signIn\` to createHost.`);
    },
    async signIn(signal) {
      const auth = await load();
      isSigningIn = true;
      try {
        await auth.signIn(url, { signal });
      } finally {
        isSigningIn = false;
      }
    },
  };
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
