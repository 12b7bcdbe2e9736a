import type { InputOrigin } from "@mcparley/host";
import type { Talk } from "../../terminal/questions/choose.ts";
import { chooseOrView, heading, present, stack } from "../../terminal/questions/dialog.ts";
import { excerpt, ownLines, quoted, serverLines, shortLine } from "../../terminal/questions/server-text.ts";
import type { View } from "../../terminal/screen.ts";

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
