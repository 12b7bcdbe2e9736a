import { Declined, LocalError, printableJson } from "mcparley";
import type { OAuth, SignIn, SignInPurpose } from "mcparley/auth";
import type { HttpAuth, HttpTarget } from "mcparley/client";
import type { SignInSetting, SupervisedEntry } from "./supervisor-setting.ts";

/** The authorization of one server. */
export interface ServerAuth {
  /** Returns the target with its authorization. Sends no request. */
  authorize(this: void, target: HttpTarget): Promise<HttpTarget>;
  /**
   * Adds scopes, separated by spaces, to those of the next sign-in. Throws `LocalError` `not_capable` if the server or the host has
   * no sign-in.
   */
  prepareSignIn(this: void, scope?: string): void;
  /** Signs the user in. */
  signIn(this: void, signal: AbortSignal): Promise<void>;
}

/**
 * Returns the authorization of a server over HTTP that has neither `auth` nor an `authorization` header.
 *
 * A page for the sign-in is only opened during `signIn`, or for a call that needs more scopes if the user agrees. At all other
 * times a server that requires a sign-in makes the connection fail with `sign_in_required`, so no connection in the background
 * opens a browser.
 */
export function serverAuth({ name, server }: SupervisedEntry, setting: SignInSetting): ServerAuth {
  const shown = printableJson(name);
  if (server.kind !== "http") return withoutSignIn(`Server ${shown} is not used over HTTP, so it has no sign-in.`);
  const { onNewScopes } = setting;
  if (server.target.auth || hasAuthorization(server.target)) {
    const message = `Server ${shown} has its own \`auth\` or an \`authorization\` header. Change that instead.`;
    return withoutSignIn(message, (target) =>
      target.auth ? { ...target, auth: watchStepUps(target.auth, { onNewScopes }) } : target,
    );
  }
  const { url, connection } = server.target;
  /** The number of running sign-ins. One that was aborted can end after the start of the next one. */
  let signIns = 0;
  /** The scopes to add to those of the next sign-in: a call or the program needs them, and the token has not. */
  let missing = new Set<string>();
  let loading: Promise<OAuth> | undefined;
  /** The signal of the last request for more scopes. */
  let stepUp = new AbortController().signal;
  const gated: SignIn = {
    async prepare(previous, purpose) {
      const { signIn } = setting;
      if (signIn && (signIns > 0 || (await isConfirmed(purpose)))) return signIn.prepare(previous, purpose);
      const scopes = purpose?.missingScopes?.join(" ");
      const reason = scopes === undefined ? "a sign-in" : `scopes that the user has not granted: ${scopes}`;
      const cure = signIn ? "Call signIn() of the server." : "Pass `signIn` to createHost.";
      const data = { server: name, missingScopes: purpose?.missingScopes };
      throw new LocalError("sign_in_required", `Server ${shown} requires ${reason}. ${cure}`, { data });
    },
  };
  async function isConfirmed(purpose: SignInPurpose | undefined): Promise<boolean> {
    if (!purpose?.missingScopes) return false;
    for (const scope of purpose.missingScopes) missing.add(scope);
    const isAllowed = await setting.confirmScopes?.(purpose, stepUp);
    if (isAllowed === false) throw new Declined(`The user declined the scopes ${purpose.missingScopes.join(" ")}.`);
    return isAllowed === true;
  }
  // Servers without HTTP do not need the code of the authorization.
  const load = (): Promise<OAuth> => (loading ??= openOAuth(setting, gated, connection));
  return {
    async authorize(target) {
      const listeners = { onStart: (signal: AbortSignal) => void (stepUp = signal), onNewScopes };
      return { ...target, auth: watchStepUps(await load(), listeners) };
    },
    prepareSignIn(scope = "") {
      if (!setting.signIn)
        throw new LocalError("not_capable", `The host has no sign-in. Pass \`signIn\` to createHost.`);
      for (const one of scope.split(" ").filter(Boolean)) missing.add(one);
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

async function openOAuth(
  { credentials, clock, authorization, watchStorage, onStep }: SignInSetting,
  signIn: SignIn,
  connection: HttpTarget["connection"],
): Promise<OAuth> {
  const { memoryCredentials, oauth } = await import("mcparley/auth");
  const unwatched = credentials ?? memoryCredentials();
  const storage = watchStorage?.(unwatched) ?? unwatched;
  return oauth({
    ...authorization,
    signIn,
    clock,
    storage,
    ...(connection && { connection }),
    ...(onStep && { onStep }),
  });
}

interface StepUpListeners {
  /** Called with the signal of each request for more scopes. */
  readonly onStart?: (signal: AbortSignal) => void;
  readonly onNewScopes: SignInSetting["onNewScopes"];
}

/** Calls the listeners for requests for more scopes, and marks the errors of these requests. */
function watchStepUps(auth: HttpAuth, { onStart, onNewScopes }: StepUpListeners): HttpAuth {
  const { extension } = auth;
  return {
    headers: (request) => auth.headers(request),
    responded: (request, response) => auth.responded?.(request, response) ?? false,
    async challenged(refusal, signal) {
      if (refusal.status !== 403) return auth.challenged(refusal, signal);
      onStart?.(signal);
      try {
        const isGranted = await auth.challenged(refusal, signal);
        if (isGranted) onNewScopes?.();
        return isGranted;
      } catch (error) {
        if (error instanceof Error) stepUpErrors.add(error);
        throw error;
      }
    },
    ...(extension !== undefined && { extension }),
  };
}

/** The errors of requests for more scopes. */
const stepUpErrors = new WeakSet<Error>();

/** Whether a server refused a call although it accepts the token, so that other calls are possible. */
export function isDeniedCall(error: LocalError): boolean {
  const { data } = error;
  const isForbidden = typeof data === "object" && data !== null && "status" in data && data.status === 403;
  return stepUpErrors.has(error) || (error.code === "unauthorized" && isForbidden);
}

/** Whether an error means that the user must sign in. */
export function isSignInError(error: unknown): boolean {
  return error instanceof LocalError && /^(unauthorized|sign_in_required|sign_in_failed)$/.test(error.code);
}

function withoutSignIn(message: string, watch = (target: HttpTarget): HttpTarget => target): ServerAuth {
  return {
    authorize: (target) => Promise.resolve(watch(target)),
    prepareSignIn() {
      throw new LocalError("not_capable", message);
    },
    signIn: () => Promise.reject(new LocalError("not_capable", message)),
  };
}

function hasAuthorization({ headers = {} }: HttpTarget): boolean {
  return Object.keys(headers).some((header) => header.toLowerCase() === "authorization");
}
