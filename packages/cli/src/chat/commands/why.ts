import { printable } from "mcparley";
import { UsageError } from "../../terminal/io.ts";
import { showSize } from "../../terminal/show-content.ts";
import { cut, visibleLine } from "../../terminal/text.ts";
import type { SentRequest } from "../model/sent-request.ts";
import type { Chat } from "../session/chat.ts";
import { type ChatCommand, splitWords, wordMenu } from "./command.ts";

/** Shows what the model was sent, with estimates of the tokens of each part. */
export const whyCommand: ChatCommand = {
  usage: "[NUMBER|tools]",
  summary: "show what the model was sent, with tokens for each part",
  async run(text, chat) {
    const [word] = splitWords(text);
    const request = await chat.sentRequest();
    if (!request) throw new UsageError("Nothing was sent to the model yet.", "Send a message first.");
    if (word === undefined) showSummary(request, chat);
    else if (word === "tools") showTools(request, chat);
    else showPart(word, request, chat);
  },
  suggest: (words) => wordMenu(words, [{ value: "tools", detail: "the tokens of each tool's definition" }]),
};

function showSummary({ parts, tools }: SentRequest, { terminal, view, model }: Chat): void {
  const { bold, dim } = view.style;
  terminal.print(
    bold(model === undefined ? "What a model would be sent" : `The last request to ${visibleLine(model)}`),
  );
  const toolTokens = tools.reduce((sum, { tokens }) => sum + tokens, 0);
  for (const [index, { kind, text, tokens, files }] of parts.entries()) {
    const start = `${String(index + 1).padStart(3)}  ${kind.padEnd(9)} ${estimate(tokens)}  `;
    const summary = [text.slice(0, 400), ...files.map(({ mediaType }) => `[${mediaType}]`)].join(" ");
    const columns = Math.max(10, Math.min(view.width, 120) - start.length - 1);
    terminal.print(start + dim(cut(visibleLine(summary), columns)));
  }
  terminal.print(
    `     ${"tools".padEnd(9)} ${estimate(toolTokens)}  ${dim(tools.length === 1 ? "1 definition" : `${tools.length} definitions`)}`,
  );
  const total = parts.reduce((sum, { tokens }) => sum + tokens, toolTokens);
  terminal.print(bold(`     ${"total".padEnd(9)} ${estimate(total)}`));
  terminal.print(dim("~ marks an estimate of tokens. /why NUMBER shows a part, /why tools each definition."));
}

function showTools({ tools }: SentRequest, { terminal }: Chat): void {
  if (tools.length === 0) terminal.print("The request had no tools.");
  for (const { name, tokens } of tools.toSorted((a, b) => b.tokens - a.tokens)) {
    terminal.print(`${estimate(tokens)}  ${visibleLine(name)}`);
  }
}

function showPart(word: string, { parts }: SentRequest, { terminal, view }: Chat): void {
  const part = /^\d+$/.test(word) ? parts[Number(word) - 1] : undefined;
  if (!part)
    throw new UsageError(
      `The request has no part ${JSON.stringify(word)}.`,
      `The parts are 1 to ${parts.length}, and tools.`,
    );
  terminal.print(printable(part.text));
  for (const { mediaType, bytes } of part.files)
    terminal.print(view.style.dim(`[${visibleLine(mediaType)}, ${showSize(bytes)}]`));
}

function estimate(tokens: number): string {
  return `~${tokens}`.padStart(7);
}
