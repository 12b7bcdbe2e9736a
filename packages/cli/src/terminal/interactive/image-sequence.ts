/** Bytes of a part of an image in the protocol of kitty. */
const kittyPart = 4096;
/** Maximum bytes of an image that is shown. Larger ones make terminals slow. */
const largest = 8 * 1024 * 1024;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the sequence that shows an image, or undefined if the terminal is not known to have images: those with the protocol of
 * kitty (PNG only) and with that of iTerm2. Terminals inside of tmux and screen do not pass them on.
 */
export function imageSequence(data: Uint8Array, mimeType: string, env: Environment): string | undefined {
  if (data.length === 0 || data.length > largest || env.TMUX || env.STY) return undefined;
  const protocol = protocolOf(env);
  const base64 = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  if (protocol === "iterm" && mimeType.startsWith("image/")) {
    return `\u001b]1337;File=inline=1;size=${data.length};preserveAspectRatio=1:${base64}\u0007`;
  }
  return protocol === "kitty" && mimeType === "image/png" ? kittySequence(base64) : undefined;
}

/** Returns the protocol for images of a terminal by the variables that it sets. */
function protocolOf({
  TERM,
  TERM_PROGRAM,
  KITTY_WINDOW_ID,
  GHOSTTY_RESOURCES_DIR,
}: Environment): "kitty" | "iterm" | undefined {
  if (TERM_PROGRAM === "iTerm.app" || TERM_PROGRAM === "WezTerm") return "iterm";
  if (KITTY_WINDOW_ID || GHOSTTY_RESOURCES_DIR || TERM === "xterm-kitty" || TERM === "xterm-ghostty") return "kitty";
  return undefined;
}

/** Transmits and shows a PNG (f=100, a=T) in parts. `q=2` suppresses replies, which would arrive as keys. */
function kittySequence(base64: string): string {
  const parts: string[] = [];
  for (let start = 0; start < base64.length; start += kittyPart) {
    const isLast = start + kittyPart >= base64.length;
    const first = start === 0 ? "a=T,f=100,q=2," : "";
    parts.push(`\u001b_G${first}m=${isLast ? 0 : 1};${base64.slice(start, start + kittyPart)}\u001b\\`);
  }
  return parts.join("");
}
