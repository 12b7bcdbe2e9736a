import type { ApprovalAnswer, ApprovalRequest } from "@mcparley/host";
import { type JsonObject, printableJson } from "mcparley";
import type { Tool, ToolAnnotations } from "mcparley/client";
import { type Talk, choose } from "../../terminal/questions/choose.ts";
import {
  type Excerpt,
  ownLines,
  quoteName,
  row,
  serverLines,
  shortLine,
} from "../../terminal/questions/server-text.ts";
import type { View } from "../../terminal/screen.ts";
import { type Question, chooseOrView, heading, present, stack } from "../../terminal/questions/dialog.ts";
import { editJson, shortJson, wholeJson } from "./json-text.ts";

/** Maximum lines of a tool's description in the question. */
const descriptionLines = 6;

type Choice = "yes" | "no" | "edit" | "session" | "always";

/** The arguments to send, and the same as JSON to show. `edited` is undefined if they are those of the request. */
interface Arguments {
  readonly editedArguments: JsonObject | undefined;
  readonly json: string;
}

/** Asks whether a tool may be called with these arguments, which the user may edit. */
export async function askApproval(request: ApprovalRequest, talk: Talk): Promise<ApprovalAnswer> {
  const { prompter, view } = talk;
  let args: Arguments = { editedArguments: undefined, json: request.shown };
  const rememberNote = "[s]ession and [a]lways also allow later calls, with any arguments.";
  present(
    stack(describeTool(request, view), describeArguments(args, view), ownLines(view.style.dim(rememberNote), view)),
    talk,
  );
  for (;;) {
    const choice = await chooseOrView(questionFor(request, args, view), talk);
    if (choice === "no") return deny(request, talk);
    if (choice === "edit") {
      const editedArguments = await editJson(args.editedArguments ?? request.arguments, request.tool.inputSchema, talk);
      if (!editedArguments) continue;
      args = { editedArguments, json: printableJson(editedArguments, 2) };
      present(describeArguments(args, view), talk);
      continue;
    }
    if (choice === "always" && !(await confirmAlways(request, talk))) continue;
    if (choice === "session") prompter.say(rememberedText(request, "until this chat ends", view));
    return {
      action: "allow",
      ...(args.editedArguments && { arguments: args.editedArguments }),
      ...(choice !== "yes" && { remember: choice }),
    };
  }
}

/** Returns whether a tool says that it can delete or overwrite. This is a claim of the server. */
export function isDestructive({ annotations }: Tool): boolean {
  return annotations?.destructiveHint === true && annotations.readOnlyHint !== true;
}

function questionFor(request: ApprovalRequest, { json }: Arguments, view: View): Question<Choice> {
  const keys = { y: "yes", n: "no", e: "edit", s: "session" } as const;
  // The host stores no rule for such a name, because a rule would match other names too.
  const canRemember = !`${request.server}${request.tool.name}`.includes("*");
  return {
    prompt: `Call it? [y]es, [n]o, [e]dit, [s]ession, ${canRemember ? "[a]lways, " : ""}[v]iew? `,
    keys: canRemember ? { ...keys, a: "always" } : keys,
    all: () => [
      "All arguments:",
      ...wholeJson(json, view),
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
  const moreLines = description.length - firstLines.length;
  return {
    lines: [
      ...heading(`${who} the tool ${quoteName(tool.name)} of the server ${quoteName(server)}.`, view),
      ...(typeof title === "string" ? row("Title", shortLine(title), view) : []),
      ...row("Server says", says === "" ? "nothing about what it changes" : `${says} (not verified)`, view),
      ...(tool.description === undefined ? [] : ["  Description by the server:", ...firstLines]),
      ...(moreLines > 0 ? [view.style.dim(`  … ${moreLines} more ${moreLines === 1 ? "line" : "lines"}: [v]iew`)] : []),
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

function describeArguments({ editedArguments, json }: Arguments, view: View): Excerpt {
  const whose = editedArguments ? "Your arguments" : "Arguments";
  if (json === "{}") return { lines: [`${whose}: none`], isCut: false };
  return stack([`${whose}, as they are sent:`], shortJson(json, view));
}

/** Asks for the reason of a denial. The model reads it; a call of the user has no reader. */
async function deny({ origin }: ApprovalRequest, { prompter }: Talk): Promise<ApprovalAnswer> {
  if (origin.by !== "model") return { action: "deny" };
  const reason = (await prompter.ask("Reason for the model (Enter: none) > ")).trim();
  return reason === "" ? { action: "deny" } : { action: "deny", reason };
}

function confirmAlways(request: ApprovalRequest, { prompter, view }: Talk): Promise<boolean> {
  prompter.say(rememberedText(request, "also in later chats, until its definition changes", view));
  return choose("Remember this? [y]es or [n]o? ", { y: true, n: false }, prompter);
}

function rememberedText({ server, tool }: ApprovalRequest, duration: string, view: View): string {
  const subject = `The tool ${quoteName(tool.name)} of ${quoteName(server)}`;
  return ownLines(`${subject} is called without a question, with any arguments, ${duration}.`, view).join("\n");
}
