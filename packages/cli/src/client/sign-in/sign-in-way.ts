import { Cancelled, Declined, LocalError } from "mcparley";
import type { SignIn, SignInAttempt } from "mcparley/auth";
import type { ClientOptions } from "../options.ts";
import { askUrl } from "../questions/ask-url.ts";
import { paragraph } from "../screen.ts";
import { visibleLine } from "../terminal-text.ts";
import { type TalkSetting, isAttended, talk } from "../questions/prompter.ts";

export interface SignInSetting extends TalkSetting {
  readonly options: Pick<ClientOptions, "noInput" | "noBrowser" | "timeout">;
  /** Whether the user asked for the sign-in. If so, no confirmation is needed. */
  readonly isAskedFor: boolean;
  /** The redirect URI with which the client is registered. Default: any free port of this machine. */
  readonly redirectUri?: string | undefined;
  /** Shown if the user has not returned from the browser after some time. Default: none. */
  readonly waitingHint?: string | undefined;
}

/** Milliseconds after which the hint is shown. */
const HINT_MS = 30_000;

/** Returns the sign-in method: with a local browser, with a browser elsewhere, or an error if no user is present. */
export async function signInWay(setting: SignInSetting): Promise<SignIn> {
  const attended = isAttended(setting);
  if (setting.options.noBrowser || !(attended || setting.isAskedFor)) return pasted(setting, attended);
  const { loopbackSignIn } = await import("mcparley/node");
  const { timeout } = setting.options;
  return {
    async prepare(previous) {
      // A sign-in that starts again has a hint of its own.
      let hint = delayedHint(setting);
      const attempt = await loopbackSignIn({
        open: async (url) => {
          const { start } = hint;
          await open(url, attended, setting);
          start();
        },
        // In other commands `--timeout` limits the call, and the time of the sign-in does not count.
        ...(setting.isAskedFor && timeout !== undefined && { timeLimit: timeout }),
      }).prepare(previous);
      return {
        ...attempt,
        visit(url, signal) {
          const { stop } = (hint = delayedHint(setting));
          return attempt.visit(url, signal).finally(stop);
        },
      };
    },
  };
}

/** Returns the timer of the hint. It cannot start after it was stopped, because the user may return before the page is open. */
function delayedHint({ io, screen, waitingHint }: SignInSetting): { start(this: void): void; stop(this: void): void } {
  let isStopped = waitingHint === undefined;
  let cancel: (() => void) | undefined;
  return {
    start() {
      if (!isStopped) cancel = io.after(HINT_MS, () => screen.note(paragraph(waitingHint ?? "", screen.err)));
    },
    stop() {
      isStopped = true;
      cancel?.();
    },
  };
}

async function open(url: URL, attended: boolean, setting: SignInSetting): Promise<void> {
  const { screen } = setting;
  if (setting.isAskedFor) await openAtOnce(url, attended, setting);
  else await openIfWanted(url, setting);
  screen.note("Waiting for the sign-in in the browser. Press Ctrl-C to stop.");
}

async function openAtOnce(url: URL, attended: boolean, { io, screen }: SignInSetting): Promise<void> {
  try {
    await io.openUrl(url);
    screen.note(`The browser opens to sign in at ${url.host}. If it does not, visit:\n${url.href}`);
  } catch (error) {
    if (!attended) throw error;
    screen.note(`No browser could be opened: ${(error as Error).message}. On this machine, visit:\n${url.href}`);
  }
}

/** Shows the URL of the sign-in, and opens it only if the user agrees. */
async function openIfWanted(url: URL, setting: SignInSetting): Promise<void> {
  const { io, screen, stop } = setting;
  const answer = await talk(setting, stop.signal, (prompter) => {
    prompter.say(`\n${screen.err.style.bold("The server asks you to sign in:")}`);
    const scopes = url.searchParams.get("scope");
    if (scopes) prompter.say(paragraph(`Scopes: ${visibleLine(scopes)}`, screen.err, "  "));
    return askUrl(url.href, (href) => io.openUrl(href), { prompter, view: screen.err });
  });
  if (answer?.action === "decline") throw new Declined("You declined to sign in.");
  if (answer?.action !== "accept") throw new Cancelled("The sign-in was cancelled.");
}

async function pasted(setting: SignInSetting, attended: boolean): Promise<SignIn> {
  const { pastedSignIn } = await import("mcparley/auth");
  const { screen, redirectUri } = setting;
  // A URL is not wrapped, so that it can be copied.
  const print = (line: string): void => screen.note(URL.canParse(line) ? line : paragraph(line, screen.err));
  const read = async (question: string, signal: AbortSignal): Promise<string> => {
    const answer = await talk(setting, signal, (prompter) => prompter.ask(question));
    if (answer === undefined) throw new Cancelled("The sign-in was cancelled.");
    return answer;
  };
  const way = pastedSignIn({ print, read, ...(redirectUri !== undefined && { redirectUri }) });
  return attended ? way : { prepare: async (previous) => unattended(await way.prepare(previous)) };
}

/** Returns an attempt that fails with the sign-in URL, because no user is present. */
function unattended({ redirectUri }: SignInAttempt): SignInAttempt {
  return {
    redirectUri,
    visit: ({ href }) => {
      const message = "A user must sign in, and there is no terminal to ask at.";
      return Promise.reject(new LocalError("sign_in_required", message, { data: { url: href } }));
    },
    close: () => Promise.resolve(),
  };
}
