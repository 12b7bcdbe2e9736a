import { spawn } from "node:child_process";
import { isSecureUrl } from "../../net/loopback.ts";
import type { SignIn } from "../../auth/client/sign-in.ts";
import { linkWithin } from "../../rpc/abort.ts";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { LoopbackListener } from "./loopback-listener.ts";

/** Options of `loopbackSignIn`. */
export interface LoopbackSignInOptions {
  /** Sends the user to the URL. Replace it to show the URL, or to ask the user first. Default: `openUrl`. */
  open?: (url: URL) => void | Promise<void>;
  /** Milliseconds for the user to sign in and return. Default: 600,000 (10 minutes). */
  timeLimit?: number;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

const defaultTimeLimit = 600_000;

/**
 * Signs a user in with the browser of this machine, which is redirected to a port of 127.0.0.1 (RFC 8252, 7.3). This is the
 * default of `oauth` on Node.
 *
 * It listens only while it waits, at the redirect URI of the client's registration if its port is free, otherwise on a random port. This
 * URI is http on 127.0.0.1, [::1] or localhost, with any path. If it has no port, a random port is used. It accepts one request, which must have the redirect URI's path and Host and the state of the authorization URL. A sign-in
 * fails with `LocalError` `sign_in_required` if no browser can be opened, and with `timeout` if the user does not return in
 * time.
 *
 * @example
 * ```ts
 * import { oauth } from "mcparley/auth";
 * import { connect } from "mcparley/client";
 * import { loopbackSignIn } from "mcparley/node";
 *
 * const signIn = loopbackSignIn({ open: (url) => console.error(`Visit ${url.href}`) });
 * const client = await connect("https://notes.example.com/mcp", { auth: oauth({ clientName: "Notes", signIn }) });
 * ```
 */
export function loopbackSignIn(options: LoopbackSignInOptions = {}): SignIn {
  const { open = openUrl, timeLimit = defaultTimeLimit, clock = systemClock } = options;
  return {
    async prepare(previous) {
      const listener = await LoopbackListener.open(previous);
      return {
        redirectUri: listener.redirectUri,
        async visit(authorizationUrl, signal) {
          const limit = timeLimit === 1000 ? "1 second" : `${timeLimit / 1000} seconds`;
          const message = `The user did not return from the sign-in within ${limit}.`;
          const visitLimit = linkWithin({ clock, ms: timeLimit, message }, signal);
          // The browser can return before the program that opened it has ended.
          const redirect = listener.receive(authorizationUrl.searchParams.get("state") ?? undefined, visitLimit.signal);
          redirect.catch(() => {});
          try {
            await Promise.race([redirect, send(authorizationUrl, open)]);
            return await redirect;
          } finally {
            visitLimit.unlink();
          }
        },
        close: () => listener.close(),
      };
    },
  };
}

/** Sends the user to a URL with `open`, and describes its failure. */
async function send(url: URL, open: NonNullable<LoopbackSignInOptions["open"]>): Promise<void> {
  try {
    await open(url);
  } catch (cause) {
    if (cause instanceof LocalError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `A user must sign in, but no browser could be opened: ${why}. Set the option \`open\` to show the URL, or use \`pastedSignIn\`.`;
    // The error has no URL: nothing listens for its redirect after the attempt.
    throw new LocalError("sign_in_required", message, { cause });
  }
}

/** Options of `openUrl`. */
export interface OpenUrlOptions {
  /** Starts a program without a shell, and resolves when it runs. For tests. Default: `spawn` of `node:child_process`. */
  launch?: (command: string, args: readonly string[]) => Promise<void>;
  /** The operating system. Default: `process.platform`. */
  platform?: NodeJS.Platform;
  /** The environment variables. Default: `process.env`. */
  env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Opens a URL in the user's browser: the program that `BROWSER` names, or the default of the system.
 *
 * Ask the user before you open a URL of a server. The URL is not passed to a shell. Rejects if it is neither https nor http
 * on this machine, or contains a user name. Also rejects if there is no browser, for example on Linux without a display.
 *
 * @example
 * ```ts
 * import { openUrl } from "mcparley/node";
 *
 * await openUrl("https://notes.example.com/settings");
 * ```
 */
export async function openUrl(url: string | URL, options: OpenUrlOptions = {}): Promise<void> {
  const { platform = process.platform, env = process.env, launch = launchDetached } = options;
  const parsedUrl = new URL(url);
  if (!isSecureUrl(parsedUrl) || parsedUrl.username || parsedUrl.password)
    throw new Error("only https URLs without a user name are opened");
  const [command, args] = opener(platform, env);
  await launch(command, [...args, parsedUrl.href]);
}

function opener(
  platform: NodeJS.Platform,
  { BROWSER, DISPLAY, WAYLAND_DISPLAY }: Readonly<Record<string, string | undefined>>,
): [command: string, args: string[]] {
  if (BROWSER) return [BROWSER, []];
  if (platform === "darwin") return ["open", []];
  // Not `start`, because cmd.exe interprets & and ^ in a URL.
  if (platform === "win32") return ["rundll32", ["url.dll,FileProtocolHandler"]];
  // xdg-open would start and fail later without an error here.
  if (!DISPLAY && !WAYLAND_DISPLAY) throw new Error("there is no display, and BROWSER names no browser");
  return ["xdg-open", []];
}

function launchDetached(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { detached: true, stdio: "ignore", shell: false });
    child.once("error", reject);
    child.once("spawn", () => {
      child.unref();
      resolve();
    });
  });
}
