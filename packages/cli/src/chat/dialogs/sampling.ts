import type { SampleAnswer, SampledAnswer, SampledRequest, SampleRequest } from "@mcparley/host";
import type { Talk } from "../../terminal/questions/choose.ts";
import { excerpt, ownLines, quoteName, row, shortLine } from "../../terminal/questions/server-text.ts";
import type { View } from "../../terminal/screen.ts";
import { chooseOrView, present, stack } from "../../terminal/questions/dialog.ts";
import { requestHeading } from "./input-requests.ts";
import {
  contentLines,
  conversationLines,
  editRequest,
  editText,
  replaceText,
  requestLines,
  textOf,
} from "./messages.ts";

/** Asks whether the model may be run for a server. With `isManual` there is no model, and the user writes the answer. */
export async function askSample(sampleRequest: SampleRequest, isManual: boolean, talk: Talk): Promise<SampleAnswer> {
  const { view } = talk;
  const wants = isManual ? "asks for an answer of a model, and there is none" : "asks to run your model";
  const consequence = isManual
    ? "If you agree, you write the answer, and it is sent to the server."
    : "If you agree, the model runs with this request. You see its answer before it is sent.";
  const conversation = excerpt(conversationLines(sampleRequest.request, view), view);
  const facts = factsOf(sampleRequest, isManual, view);
  present(
    stack(requestHeading(sampleRequest.origin, wants, view), ownLines(consequence, view), facts, conversation),
    talk,
  );
  const request = await agreeOrEdit(sampleRequest.request, talk, {
    prompt: `${isManual ? "Answer it" : "Run it"}? [y]es, [n]o, [e]dit, [v]iew? `,
    lines: (current) => requestLines(current, view),
    async edit(current) {
      const newRequest = await editRequest(current, talk);
      present(stack(["", "The request is now:"], excerpt(conversationLines(newRequest, view), view)), talk);
      return newRequest;
    },
  });
  if (!request) return { action: "deny" };
  return { action: "allow", ...(request !== sampleRequest.request && { request }) };
}

/** Asks whether the answer of the model may be sent to the server. */
export async function askSampled({ origin, result: answer }: SampledRequest, talk: Talk): Promise<SampledAnswer> {
  const { prompter, view } = talk;
  const { model, stopReason } = answer;
  const facts = [
    ...row("Model", shortLine(model), view),
    ...(stopReason === undefined ? [] : row("Ended by", shortLine(stopReason), view)),
  ];
  const wants = "will receive this answer of your model if you agree";
  const text = excerpt(contentLines(answer.content, view), view);
  present(stack(requestHeading(origin, wants, view), facts, text), talk);
  const result = await agreeOrEdit(answer, talk, {
    prompt: "Send it to the server? [y]es, [n]o, [e]dit, [v]iew? ",
    lines: ({ content }) => contentLines(content, view),
    async edit(current) {
      const oldText = textOf(current.content);
      if (oldText === undefined) {
        prompter.say("The answer has no text to edit.");
        return current;
      }
      prompter.say(view.style.dim("An empty text leaves it unchanged."));
      const newText = await editText("Answer", oldText, talk);
      const newAnswer =
        newText === undefined ? current : { ...current, content: replaceText(current.content, newText) };
      present(stack(["", "The answer is now:"], excerpt(contentLines(newAnswer.content, view), view)), talk);
      return newAnswer;
    },
  });
  if (!result) return { action: "deny" };
  return { action: "allow", ...(result !== answer && { result }) };
}

/** A question about a value that the user can edit. */
interface EditableQuestion<T> {
  readonly prompt: string;
  /** Returns all lines of the value. */
  readonly lines: (value: T) => string[];
  readonly edit: (value: T) => Promise<T>;
}

/** Asks until the user agrees or refuses. Returns the value with its edits, or undefined if the user refuses. */
async function agreeOrEdit<T>(
  initial: T,
  talk: Talk,
  { prompt, lines, edit }: EditableQuestion<T>,
): Promise<T | undefined> {
  let value = initial;
  for (;;) {
    const keys = { y: "yes", n: "no", e: "edit" } as const;
    const choice = await chooseOrView({ prompt, keys, all: () => lines(value) }, talk);
    if (choice === "no") return undefined;
    if (choice === "yes") return value;
    value = await edit(value);
  }
}

function factsOf({ request, model, contextOf, tokensLeft }: SampleRequest, isManual: boolean, view: View): string[] {
  const { maxTokens, tools = [] } = request;
  const texts = contextOf.map(quoteName).join(", ");
  const names = tools.map(({ name }) => quoteName(name)).join(", ");
  return [
    ...(isManual ? [] : row("Model", shortLine(model), view)),
    ...row("Tokens", `at most ${maxTokens} for the answer; ${tokensLeft} left for this server`, view),
    ...row("Context", contextOf.length === 0 ? "only the messages below" : `also texts of the servers ${texts}`, view),
    ...(tools.length === 0 ? [] : row("Tools", `${names}. The server runs the calls of the model.`, view)),
  ];
}
