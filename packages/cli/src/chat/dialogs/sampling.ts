import type { SampleAnswer, SampledAnswer, SampledRequest, SampleRequest } from "@mcparley/host";
import type { CreateMessageParams } from "mcparley/client";
import type { Talk } from "../../terminal/questions/choose.ts";
import { excerpt, ownLines, quoted, row, shortLine } from "../../terminal/questions/server-text.ts";
import type { View } from "../../terminal/screen.ts";
import { chooseOrView, present, stack } from "../../terminal/questions/dialog.ts";
import { requestHeading } from "./dialog.ts";
import { editRequest, editText, replaceText, textOf } from "./edit-text.ts";
import { contentLines, conversationLines, requestLines } from "./show-messages.ts";

const keys = { y: "yes", n: "no", e: "edit" } as const;

/** Asks whether the model may be run for a server. With `isManual` there is no model, and the user writes the answer. */
export async function askSample(asked: SampleRequest, isManual: boolean, talk: Talk): Promise<SampleAnswer> {
  const { view } = talk;
  const wants = isManual ? "asks for an answer of a model, and there is none" : "asks to run your model";
  const consequence = isManual
    ? "If you agree, you write the answer, and it is sent to the server."
    : "If you agree, the model runs with this request. You see its answer before it is sent.";
  let { request } = asked;
  const conversation = excerpt(conversationLines(request, view), view);
  const facts = factsOf(asked, isManual, view);
  present(stack(requestHeading(asked.origin, wants, view), ownLines(consequence, view), facts, conversation), talk);
  const prompt = `${isManual ? "Answer it" : "Run it"}? [y]es, [n]o, [e]dit, [v]iew? `;
  for (;;) {
    const choice = await chooseOrView({ prompt, keys, all: () => requestLines(request, view) }, talk);
    if (choice === "no") return { action: "deny" };
    if (choice === "yes") return { action: "allow", ...(request !== asked.request && { request }) };
    request = await editRequest(request, talk);
    present(stack(["", "The request is now:"], excerpt(conversationLines(request, view), view)), talk);
  }
}

/** Asks whether the answer of the model may be sent to the server. */
export async function askSampled({ origin, result: answered }: SampledRequest, talk: Talk): Promise<SampledAnswer> {
  const { prompter, view } = talk;
  let result = answered;
  const text = (): string[] => contentLines(result.content, view);
  const { model, stopReason } = answered;
  const facts = [
    ...row("Model", shortLine(model), view),
    ...(stopReason === undefined ? [] : row("Ended by", shortLine(stopReason), view)),
  ];
  const wants = "will receive this answer of your model if you agree";
  present(stack(requestHeading(origin, wants, view), facts, excerpt(text(), view)), talk);
  for (;;) {
    const prompt = "Send it to the server? [y]es, [n]o, [e]dit, [v]iew? ";
    const choice = await chooseOrView({ prompt, keys, all: text }, talk);
    if (choice === "no") return { action: "deny" };
    if (choice === "yes") return { action: "allow", ...(result !== answered && { result }) };
    const before = textOf(result.content);
    if (before === undefined) {
      prompter.say("The answer has no text to edit.");
      continue;
    }
    prompter.say(view.style.dim("An empty text leaves it unchanged."));
    const edited = await editText("Answer", before, talk);
    if (edited !== undefined) result = { ...result, content: replaceText(result.content, edited) };
    present(stack(["", "The answer is now:"], excerpt(text(), view)), talk);
  }
}

function factsOf({ request, model, contextOf, tokensLeft }: SampleRequest, isManual: boolean, view: View): string[] {
  const { maxTokens, tools = [] } = request;
  const texts = contextOf.map((server) => quoted(server)).join(", ");
  return [
    ...(isManual ? [] : row("Model", shortLine(model), view)),
    ...row("Tokens", `at most ${maxTokens} for the answer; ${tokensLeft} left for this server`, view),
    ...row("Context", contextOf.length === 0 ? "only the messages below" : `also texts of the servers ${texts}`, view),
    ...(tools.length === 0 ? [] : row("Tools", toolsText(tools), view)),
  ];
}

function toolsText(tools: NonNullable<CreateMessageParams["tools"]>): string {
  return `${tools.map(({ name }) => quoted(name)).join(", ")}. The server runs the calls of the model.`;
}
