import { Declined, LocalError, printableJson } from "mcparley";
import type { OAuth, SignIn, SignInPurpose } from "mcparley/auth";
import type { HttpAuth, HttpTarget } from "mcparley/client";
import type { SignInSetting, SupervisedEntry } from "./supervisor-setting.ts";

/**
 * The authorization of one server. A server over HTTP has a sign-in, unless it has `auth` or an `authorization` header.
 *
 * A page for the sign-in is only opened during `signIn`, or for a call that needs more scopes if the user agrees. At all other
 * times a server that requires a sign-in makes the connection fail with `sign_in_required`, so no connection in the background
 * opens a browser.
 */
export class ServerAuth {
  readonly #entry: SupervisedEntry;
  readonly #setting: SignInSetting;
  /** The number of running sign-ins. One that was aborted can end after the start of the next one. */
  #signIns = 0;
  /** The scopes to add to those of the next sign-in: a call or the program needs them, and the token has not. */
  #missingScopes = new Set<string>();
  #loading: Promise<OAuth> | undefined;
  /** The signal of the last request for more scopes. */
  #stepUp = new AbortController().signal;

  constructor(entry: SupervisedEntry, setting: SignInSetting) {
    this.#entry = entry;
    this.#setting = setting;
  }

  /** Returns the target with its authorization. Sends no request. */
  async authorize(target: HttpTarget): Promise<HttpTarget> {
    const { onNewScopes } = this.#setting;
    if (target.auth) return { ...target, auth: watchStepUps(target.auth, { onNewScopes }) };
    if (hasAuthorization(target)) return target;
    const onStart = (signal: AbortSignal): void => void (this.#stepUp = signal);
    return { ...target, auth: watchStepUps(await this.#oauth(target), { onStart, onNewScopes }) };
  }

  /**
   * Adds scopes, separated by spaces, to those of the next sign-in. Throws `LocalError` `not_capable` if the server or the host has
   * no sign-in.
   */
  prepareSignIn(scope = ""): void {
    this.#signInTarget();
    if (!this.#setting.signIn) {
      throw new LocalError("not_capable", `The host has no sign-in. Pass \`signIn\` to createHost.`);
    }
    for (const one of scope.split(" ").filter(Boolean)) this.#missingScopes.add(one);
  }

  /** Signs the user in. */
  async signIn(signal: AbortSignal): Promise<void> {
    const target = this.#signInTarget();
    const auth = await this.#oauth(target);
    this.#signIns++;
    try {
      // Scopes of earlier sign-ins are requested again, so that a sign-in for one call does not undo another one.
      const account = this.#missingScopes.size > 0 ? await auth.whoami(target.url) : undefined;
      const scopes = [...new Set([...(account?.scopes ?? []), ...this.#missingScopes])];
      await auth.signIn(target.url, { signal, ...(scopes.length > 0 && { scope: scopes.join(" ") }) });
      this.#missingScopes = new Set();
    } finally {
      this.#signIns--;
    }
  }

  /** Returns the target at which the user signs in. Throws `LocalError` `not_capable` if the server has no sign-in. */
  #signInTarget(): HttpTarget {
    const { name, server } = this.#entry;
    const label = `Server ${printableJson(name)}`;
    if (server.kind !== "http") {
      throw new LocalError("not_capable", `${label} is not used over HTTP, so it has no sign-in.`);
    }
    if (!server.target.auth && !hasAuthorization(server.target)) return server.target;
    const message = `${label} has its own \`auth\` or an \`authorization\` header. Change that instead.`;
    throw new LocalError("not_capable", message);
  }

  /** Loads the code of the authorization, which servers without HTTP do not need. */
  #oauth({ connection }: HttpTarget): Promise<OAuth> {
    const prepare: SignIn["prepare"] = async (previous, purpose) => {
      const { signIn } = this.#setting;
      if (signIn && (this.#signIns > 0 || (await this.#isConfirmed(purpose)))) return signIn.prepare(previous, purpose);
      const { name } = this.#entry;
      const scopes = purpose?.missingScopes?.join(" ");
      const subject = `Server ${printableJson(name)} requires`;
      const data = { server: name, missingScopes: purpose?.missingScopes };
      if (purpose?.isIssuerAssumed) {
        const message = `${subject} a token or a key, and names no authorization server to sign in at. Send it in a header.`;
        throw new LocalError("sign_in_required", message, { data: { ...data, hasSignIn: false } });
      }
      const reason = scopes === undefined ? "a sign-in" : `scopes that the user has not granted: ${scopes}`;
      const cure = signIn ? "Call signIn() of the server." : "Pass `signIn` to createHost.";
      throw new LocalError("sign_in_required", `${subject} ${reason}. ${cure}`, { data });
    };
    return (this.#loading ??= openOAuth(this.#setting, { prepare }, connection));
  }

  async #isConfirmed(purpose: SignInPurpose | undefined): Promise<boolean> {
    if (!purpose?.missingScopes) return false;
    for (const scope of purpose.missingScopes) this.#missingScopes.add(scope);
    const isAllowed = await this.#setting.confirmScopes?.(purpose, this.#stepUp);
    if (isAllowed === false) throw new Declined(`The user declined the scopes ${purpose.missingScopes.join(" ")}.`);
    return isAllowed === true;
  }
}

async function openOAuth(
  { credentials, clock, authorization, watchStorage, onStep }: SignInSetting,
  signIn: SignIn,
  connection: HttpTarget["connection"],
): Promise<OAuth> {
  const { memoryCredentials, oauth } = await import("mcparley/auth");
  const plainStorage = credentials ?? memoryCredentials();
  const storage = watchStorage?.(plainStorage) ?? plainStorage;
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

function hasAuthorization({ headers = {} }: HttpTarget): boolean {
  return Object.keys(headers).some((header) => header.toLowerCase() === "authorization");
}
