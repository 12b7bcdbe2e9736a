import type { CommandIo } from "../io.ts";

/**
 * Opens a URL in the person's browser, without a shell.
 *
 * Throws for a URL that is not https, or http on this machine, or that holds a user name: these are never opened,
 * whoever asks.
 */
export async function openUrl(url: string, io: Pick<CommandIo, "platform" | "launch">): Promise<void> {
  const { protocol, hostname, username, password, href } = new URL(url);
  const safe = protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
  if (!safe || username || password) throw new Error("only https URLs without a user name are opened");
  const [command, args] = opener(io.platform);
  await io.launch(command, [...args, href]);
}

function opener(platform: NodeJS.Platform): [command: string, args: string[]] {
  if (platform === "darwin") return ["open", []];
  // `start` would go through cmd.exe, which reads & and ^ in a URL.
  if (platform === "win32") return ["rundll32", ["url.dll,FileProtocolHandler"]];
  return ["xdg-open", []];
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}
