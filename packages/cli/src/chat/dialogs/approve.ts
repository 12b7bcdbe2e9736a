import type { ApprovalAnswer, ApprovalRequest } from "@mcparley/host";
import { type JsonObject, printableJson } from "mcparley";
import type { Tool, ToolAnnotations } from "mcparley/client";
import { type Talk, choose } from "../../terminal/questions/choose.ts";
import { type Excerpt, ownLines, quoted, row, serverLines, shortLine } from "../../terminal/questions/server-text.ts";
import type { View } from "../../terminal/screen.ts";
import { type Question, chooseOrView, heading, present, stack } from "../../terminal/questions/dialog.ts";
import { editJson, shortJson, wholeJson } from "./json-text.ts";

/** Maximum lines of a tool's description in the question. */
const descriptionLines = 6;

type Choice = "yes" | "no" | "edit" | "session" | "always";

/** The arguments to send, and the same as JSON to show. `edited` is undefined if they are those of the request. */
interface Arguments {
  readonly edited: JsonObject | undefined;
  readonly shown: string;
}

/** Asks whether a tool may be called with these arguments, which the user may edit. */
export async function askApproval(request: ApprovalRequest, talk: Talk): Promise<ApprovalAnswer> {
  const { prompter, view } = talk;
  let args: Arguments = { edited: undefined, shown: request.shown };
  const later = "[s]ession and [a]lways also allow later calls, with any arguments.";
  present(
    stack(describeTool(request, view), describeArguments(args, view), ownLines(view.style.dim(later), view)),
    talk,
  );
  for (;;) {
    const choice = await chooseOrView(questionFor(request, args, view), talk);
    if (choice === "no") return deny(request, talk);
    if (choice === "edit") {
      const edited = await editJson(args.edited ?? request.arguments, talk);
      if (!edited) continue;
      args = { edited, shown: printableJson(edited, 2) };
      present(describeArguments(args, view), talk);
      continue;
    }
    if (choice === "always" && !(await confirmAlways(request, talk))) continue;
    if (choice === "session") prompter.say(sentence(rememberedText(request, "until this chat ends"), view));
    return {
      action: "allow",
      ...(args.edited && { arguments: args.edited }),
      ...(choice !== "yes" && { remember: choice }),
    };
  }
}

/** Returns whether a tool says that it can delete or overwrite. This is a claim of the server. */
export function isDestructive({ annotations }: Tool): boolean {
  return annotations?.destructiveHint === true && annotations.readOnlyHint !== true;
}

function questionFor(request: ApprovalRequest, { shown }: Arguments, view: View): Question<Choice> {
  const keys = { y: "yes", n: "no", e: "edit", s: "session" } as const;
  // The host stores no rule for such a name, because a rule would match other names too.
  const canRemember = !`${request.server}${request.tool.name}`.includes("*");
  return {
    prompt: `Call it? [y]es, [n]o, [e]dit, [s]ession, ${canRemember ? "[a]lways, " : ""}[v]iew? `,
    keys: canRemember ? { ...keys, a: "always" } : keys,
    all: () => [
      "All arguments:",
      ...wholeJson(shown, view),
      "The definition of the tool, as the server sent it:",
      ...wholeJson(printableJson(request.tool, 2), view),
    ],
  };
}

function describeTool({ origin, server, tool }: ApprovalRequest, view: View): Excerpt {
  const who = origin.by === "model" ? "The model wants to call" : "You asked to call";
  const title = tool.title ?? tool.annotations?.title;
  const says = claimsOf(tool.annotations);
  const description = serverLines(tool.description ?? "", view);
  const firstLines = description.slice(0, descriptionLines);
  const left = description.length - firstLines.length;
  return {
    lines: [
      ...heading(`${who} the tool ${quoted(tool.name)} of the server ${quoted(server)}.`, view),
      ...(typeof title === "string" ? row("Title", shortLine(title), view) : []),
      ...row("Server says", says === "" ? "nothing about what it changes" : `${says} (not verified)`, view),
      ...(tool.description === undefined ? [] : ["  Description by the server:", ...firstLines]),
      ...(left > 0 ? [view.style.dim(`  … ${left} more ${left === 1 ? "line" : "lines"}: [v]iew`)] : []),
    ],
    // The description is for the model. A cut one needs no warning.
    isCut: false,
  };
}

/** Returns the claims of the annotations, as a list. */
function claimsOf({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint }: ToolAnnotations = {}): string {
  const changes = readOnlyHint !== true;
  const claims: readonly (readonly [boolean, string])[] = [
    [readOnlyHint === true, "read only"],
    [readOnlyHint === false, "changes something"],
    [changes && destructiveHint === true, "can delete or overwrite"],
    [changes && destructiveHint === false, "does not delete or overwrite"],
    [changes && idempotentHint === true, "a repeated call changes nothing more"],
    [openWorldHint === true, "uses other systems, such as the web"],
    [openWorldHint === false, "uses no other systems"],
  ];
  return claims.flatMap(([applies, text]) => (applies ? text : [])).join(", ");
}

function describeArguments({ edited, shown }: Arguments, view: View): Excerpt {
  const whose = edited ? "Your arguments" : "Arguments";
  if (shown === "{}") return { lines: [`${whose}: none`], isCut: false };
  return stack([`${whose}, as they are sent:`], shortJson(shown, view));
}

/** Asks for the reason of a denial. The model reads it; a call of the user has no reader. */
async function deny({ origin }: ApprovalRequest, { prompter }: Talk): Promise<ApprovalAnswer> {
  if (origin.by !== "model") return { action: "deny" };
  const reason = (await prompter.ask("Reason for the model (Enter: none) > ")).trim();
  return reason === "" ? { action: "deny" } : { action: "deny", reason };
}

function confirmAlways(request: ApprovalRequest, { prompter, view }: Talk): Promise<boolean> {
  prompter.say(sentence(rememberedText(request, "also in later chats, until its definition changes"), view));
  return choose("Remember this? [y]es or [n]o? ", { y: true, n: false }, prompter);
}

function rememberedText({ server, tool }: ApprovalRequest, duration: string): string {
  return `The tool ${quoted(tool.name)} of ${quoted(server)} is called without a question, with any arguments, ${duration}.`;
}

function sentence(text: string, view: View): string {
  return ownLines(text, view).join("\n");
}
