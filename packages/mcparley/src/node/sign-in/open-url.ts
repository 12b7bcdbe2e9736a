import { spawn } from "node:child_process";
import { isSecureUrl } from "../../net/loopback.ts";

/** What `openUrl` goes by. */
export interface OpenUrlOptions {
  /** Starts a program, without a shell, and settles once it runs. */
  launch?: (command: string, args: readonly string[]) => Promise<void>;
  platform?: NodeJS.Platform;
  env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Opens a URL in the person's browser: the program that `BROWSER` names, or what the system opens URLs with.
 *
 * No shell reads the URL. Rejects for one that is not https, or http on this machine, or that holds a user name: these
 * are never opened, whoever asks. Rejects too where there is no browser, as on a Linux without a display.
 */
export async function openUrl(url: string | URL, options: OpenUrlOptions = {}): Promise<void> {
  const { platform = process.platform, env = process.env, launch = launchDetached } = options;
  const parsed = new URL(url);
  if (!isSecureUrl(parsed) || parsed.username || parsed.password)
    throw new Error("only https URLs without a user name are opened");
  const [command, args] = opener(platform, env);
  await launch(command, [...args, parsed.href]);
}

function opener(
  platform: NodeJS.Platform,
  { BROWSER, DISPLAY, WAYLAND_DISPLAY }: Readonly<Record<string, string | undefined>>,
): [command: string, args: string[]] {
  if (BROWSER) return [BROWSER, []];
  if (platform === "darwin") return ["open", []];
  // `start` would go through cmd.exe, which reads & and ^ in a URL.
  if (platform === "win32") return ["rundll32", ["url.dll,FileProtocolHandler"]];
  // It would start, find nothing to open the URL with, and nobody would hear of it.
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
