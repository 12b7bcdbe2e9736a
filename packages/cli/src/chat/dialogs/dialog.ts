import type { InputOrigin } from "@mcparley/host";
import { type Talk, choose } from "../../client/questions/choose.ts";
import { excerpt, ownLines, quoted, serverLines, shortLine } from "../../client/questions/server-text.ts";
import type { View } from "../../client/screen.ts";
import { visibleLine } from "../../client/terminal-text.ts";

/** A text that is shown in part at first. */
export interface Shown {
  readonly lines: readonly string[];
  /** Whether a part is left out. */
  readonly isCut: boolean;
}

/** Returns texts one below the other. */
export function stack(...parts: readonly (Shown | readonly string[])[]): Shown {
  return {
    lines: parts.flatMap((part) => ("lines" in part ? part.lines : part)),
    isCut: parts.some((part) => "lines" in part && part.isCut),
  };
}

/** Shows a text. If a part is left out, the last line states how to see it. */
export function present({ lines, isCut }: Shown, { prompter, view }: Talk): void {
  const note = isCut ? [view.style.yellow("Not everything is shown. View it before you decide.")] : [];
  prompter.say([...lines, ...note].join("\n"));
}

/** A question with the choice to view everything. */
export interface Question<T extends string> {
  readonly prompt: string;
  readonly keys: Readonly<Record<string, T>>;
  /** Returns everything that is known, without cuts. */
  readonly all: () => readonly string[];
}

/** Asks until the choice is another one than `[v]iew`, which shows everything. */
export async function chooseOrView<T extends string>(
  { prompt, keys, all }: Question<T>,
  { prompter }: Talk,
): Promise<T> {
  for (;;) {
    const chosen = await choose<T | "view">(prompt, { ...keys, v: "view" }, prompter);
    if (chosen !== "view") return chosen;
    prompter.say(["", ...all()].join("\n"));
  }
}

/** Returns the first line of a question: who asks, and what for. It follows an empty line. */
export function heading(text: string, view: View): string[] {
  return ["", ...ownLines(text, view).map(view.style.bold)];
}

/** Returns the first lines of a request of a server. `wants` follows the name of the server. */
export function requestHeading({ server, claims, during }: InputOrigin, wants: string, view: View): string[] {
  const call = during === undefined ? "" : ` (during ${shortLine(during)})`;
  return [
    ...heading(`The server ${quoted(server)} ${wants}${call}.`, view),
    ...(claims ? ownLines(claimText(claims), view).map(view.style.dim) : []),
  ];
}

function claimText({ name, version }: NonNullable<InputOrigin["claims"]>): string {
  return `It calls itself ${quoted(name)}, version ${quoted(version)}. This is not verified.`;
}

/** A request of a server, and what it asks for. */
interface ServerRequest {
  readonly origin: InputOrigin;
  /** Follows the name of the server: "asks you to ...". */
  readonly wants: string;
  /** The reason, in the words of the server. */
  readonly message: string;
}

/** Shows who asks, what for and why. Returns false if the user declines at once. The user can view a long reason first. */
export async function introduce({ origin, wants, message }: ServerRequest, talk: Talk): Promise<boolean> {
  const { view } = talk;
  const lines = serverLines(message, view);
  const reason = excerpt(lines, view);
  present(stack(requestHeading(origin, wants, view), reason), talk);
  if (!reason.isCut) return true;
  const keys = { c: "continue", d: "decline" } as const;
  const prompt = "[c]ontinue, [d]ecline or [v]iew? ";
  return (await chooseOrView({ prompt, keys, all: () => lines }, talk)) === "continue";
}

/** Returns remarks of the host, which stand out with and without colours. */
export function remarkLines(remarks: readonly string[], view: View): string[] {
  return remarks.flatMap((remark) => ownLines(visibleLine(remark), view, ["! ", "  "]).map(view.style.yellow));
}
