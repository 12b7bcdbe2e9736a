import { Cancelled, LocalError } from "mcparley";
import { type SignIn, type SignInPurpose, pastedSignIn } from "mcparley/auth";
import { loopbackSignIn } from "mcparley/node";
import { paragraph, printJson } from "../../terminal/screen.ts";
import { type TalkSetting, isAttended, talk, whyUnasked } from "../../terminal/questions/prompter.ts";
import { askToSignIn } from "./ask-to-sign-in.ts";

export interface SignInSetting extends TalkSetting {
  readonly options: {
    readonly json: boolean;
    readonly noInput: boolean;
    readonly noBrowser?: boolean;
    /** Milliseconds. */
    readonly timeout: number | undefined;
  };
  /** Whether the user asked for the sign-in. If so, no confirmation is needed. */
  readonly isAskedFor: boolean;
  /** Returns the reason for which the stored tokens could not be renewed. Default: none. */
  readonly reason?: () => string | undefined;
  /** The redirect URI with which the client is registered. Default: any free port of this machine. */
  readonly redirectUri?: string | undefined;
  /** Shown if the user has not returned from the browser after some time. Default: none. */
  readonly waitingHint?: string | undefined;
}

/** Milliseconds after which the hint is shown. */
const HINT_MS = 30_000;

/**
 * Returns the sign-in method: with a redirect to this machine, with a pasted address, or an error if no user is present. `login`
 * needs no terminal, because it prints the URL and waits for the redirect.
 */
export function signInWay(setting: SignInSetting): SignIn {
  const hasUser = isAttended(setting);
  if (!hasUser && !setting.isAskedFor)
    return { prepare: (_, purpose) => Promise.reject(signInRequired(setting, purpose)) };
  const method = hasUser && setting.options.noBrowser ? signInByPaste(setting) : signInByRedirect(setting);
  return {
    prepare(previous, purpose) {
      // `login` opens one page. A server that requires more scopes at its end must not open another one.
      if (setting.isAskedFor && purpose?.missingScopes) return Promise.reject(signInRequired(setting, purpose));
      return method.prepare(previous, purpose);
    },
  };
}

/** Returns the timer of the hint. It cannot start after it was stopped, because the user may return before the page is open. */
function delayedHint({ io, screen, waitingHint }: SignInSetting): { start(this: void): void; stop(this: void): void } {
  let isStopped = waitingHint === undefined;
  let cancel: (() => void) | undefined;
  return {
    start() {
      if (!isStopped) cancel = io.schedule(HINT_MS, () => screen.note(paragraph(waitingHint ?? "", screen.err)));
    },
    stop() {
      isStopped = true;
      cancel?.();
    },
  };
}

/** Returns the error for a sign-in that is not possible here. It has the scopes for the command that signs in. */
function signInRequired({ options, isAskedFor }: SignInSetting, purpose: SignInPurpose | undefined): LocalError {
  const { scopes, missingScopes, isIssuerAssumed = false } = purpose ?? {};
  if (isIssuerAssumed) {
    const assumedMessage = "The server requires a token or a key, and names no authorization server to sign in at.";
    return new LocalError("sign_in_required", assumedMessage, { data: { hasSignIn: false } });
  }
  const reason = isAskedFor ? "" : `, and ${whyUnasked(options)}`;
  const message = missingScopes
    ? `The server requires scopes that you have not granted: ${missingScopes.join(" ")}. A user must sign in again${reason}.`
    : `A user must sign in${reason}.`;
  return new LocalError("sign_in_required", message, { data: { scopes, missingScopes } });
}

function signInByRedirect(setting: SignInSetting): SignIn {
  const { stop, options, isAskedFor } = setting;
  const { timeout } = options;
  return {
    async prepare(previous, purpose) {
      // A sign-in that starts again has a hint of its own.
      let hint = delayedHint(setting);
      const attempt = await loopbackSignIn({
        open: async (url) => {
          const { start } = hint;
          await open(url, purpose, setting);
          start();
        },
        // In other commands `--timeout` limits the call, and the time of the sign-in does not count.
        ...(isAskedFor && timeout !== undefined && { timeLimit: timeout }),
      }).prepare(previous);
      return {
        ...attempt,
        async visit(url, signal) {
          // The time of the user has its own limit, whose error states that the user did not return.
          const resume = stop.pause();
          hint = delayedHint(setting);
          return attempt.visit(url, signal).finally(() => {
            hint.stop();
            resume();
          });
        },
      };
    },
  };
}

async function open(url: URL, purpose: SignInPurpose | undefined, setting: SignInSetting): Promise<void> {
  const { io, screen, stop, isAskedFor } = setting;
  if (isAskedFor) await openAtOnce(url, setting);
  else {
    const isAsked = await talk(setting, stop.signal, async (prompter) => {
      const page = { url, purpose, reason: setting.reason?.(), openUrl: (href: string) => io.openUrl(href) };
      await askToSignIn(page, { prompter, view: screen.err });
      return true;
    });
    if (!isAsked) throw new Cancelled("The sign-in was cancelled.");
  }
  screen.note("Waiting for the sign-in in the browser. Press Ctrl-C to stop.");
}

/** Shows the URL, and opens it unless `--no-browser` was given. With `--json`, the URL is the first line of stdout. */
async function openAtOnce(url: URL, setting: SignInSetting): Promise<void> {
  const { io, screen, options } = setting;
  if (options.json) await printJson({ url: url.href }, { screen }, "line");
  if (options.noBrowser) screen.note(`Visit this URL with a browser of this machine:\n${url.href}`);
  else {
    try {
      await io.openUrl(url);
      screen.note(`The browser opens to sign in at ${url.host}. If it does not, visit:\n${url.href}`);
    } catch (error) {
      screen.note(`No browser could be opened: ${(error as Error).message}. On this machine, visit:\n${url.href}`);
    }
  }
  if (isAttended(setting)) return;
  screen.note(
    "With a browser of another machine, request the address at which it ends from this machine, such as with curl.",
  );
}

function signInByPaste(setting: SignInSetting): SignIn {
  const { screen, redirectUri } = setting;
  // A URL is not wrapped, so that it can be copied.
  const print = (line: string): void => screen.note(URL.canParse(line) ? line : paragraph(line, screen.err));
  const read = async (question: string, signal: AbortSignal): Promise<string> => {
    const answer = await talk(setting, signal, (prompter) => prompter.ask(question));
    if (answer === undefined) throw new Cancelled("The sign-in was cancelled.");
    return answer;
  };
  return pastedSignIn({ print, read, ...(redirectUri !== undefined && { redirectUri }) });
}
