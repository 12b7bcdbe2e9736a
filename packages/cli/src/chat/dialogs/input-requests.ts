import type { FormAnswer, FormRequest, InputOrigin, UrlAnswer, UrlRequest } from "@mcparley/host";
import { askForm } from "../../terminal/questions/ask-form.ts";
import { askUrl } from "../../terminal/questions/ask-url.ts";
import type { Talk } from "../../terminal/questions/choose.ts";
import { chooseOrView, heading, present, remarkLines, stack } from "../../terminal/questions/dialog.ts";
import { fieldsOf } from "../../terminal/questions/form-fields.ts";
import { excerpt, ownLines, quoteName, serverLines, shortLine } from "../../terminal/questions/server-text.ts";
import type { View } from "../../terminal/screen.ts";

/** Shows the form of a server, and returns the answer of the user. */
export async function askFields(request: FormRequest, talk: Talk): Promise<FormAnswer> {
  const wants = request.fields.length === 0 ? "asks for your agreement" : "asks you to fill in a form";
  if (!(await introduce(request, wants, talk))) return { action: "decline" };
  return askForm({ fields: fieldsOf(request), check: request.check }, talk);
}

/** Shows the page that a server asks the user to visit, and opens it after a yes. */
export async function askVisit(
  request: UrlRequest,
  open: (url: string) => Promise<void>,
  talk: Talk,
): Promise<UrlAnswer> {
  const wants = "asks you to open a page in your browser";
  if (!(await introduce({ ...request, remarks: [] }, wants, talk))) return { action: "decline" };
  const { action } = await askUrl(request.url, open, { ...talk, remarks: request.remarks });
  return { action };
}

/** Returns the first lines of a request of a server. `wants` follows the name of the server. */
export function requestHeading({ server, claims, during }: InputOrigin, wants: string, view: View): string[] {
  const call = during === undefined ? "" : ` (during ${shortLine(during)})`;
  const lines = heading(`The server ${quoteName(server)} ${wants}${call}.`, view);
  if (!claims) return lines;
  const { name, version } = claims;
  const text = `It calls itself ${quoteName(name)}, version ${quoteName(version)}. This is not verified.`;
  return [...lines, ...ownLines(text, view).map(view.style.dim)];
}

/** Shows who asks, what for and why. `wants` follows the name of the server: "asks you to ...". Returns false if the user declines at once. The user can view a long reason first. */
async function introduce(
  { origin, message, remarks }: Pick<FormRequest, "origin" | "message" | "remarks">,
  wants: string,
  talk: Talk,
): Promise<boolean> {
  const { view } = talk;
  const lines = serverLines(message, view);
  const reason = excerpt(lines, view);
  present(stack(requestHeading(origin, wants, view), reason, remarkLines(remarks, view)), talk);
  if (!reason.isCut) return true;
  const keys = { c: "continue", d: "decline" } as const;
  const prompt = "[c]ontinue, [d]ecline or [v]iew? ";
  return (await chooseOrView({ prompt, keys, all: () => lines }, talk)) === "continue";
}
