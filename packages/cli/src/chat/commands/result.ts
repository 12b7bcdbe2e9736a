import { printable } from "mcparley";
import { UsageError } from "../../terminal/io.ts";
import { visibleLine } from "../../terminal/text.ts";
import { writeNewFile } from "../history/transcript.ts";
import type { Chat } from "../session/chat.ts";
import type { ShownResult } from "../history/result-log.ts";
import { fileLine, linesOf } from "../session/show-message.ts";
import { type ChatCommand, splitWords, wordMenu } from "./command.ts";

/** Shows the results of tools: all of them with their numbers, or the whole of one. Writes one to a file. */
export const resultCommand: ChatCommand = {
  usage: "[NUMBER [FILE] [--overwrite]]",
  summary: "show a whole result of a tool, or write it to a file",
  async run(text, chat) {
    const words = splitWords(text);
    const overwrite = words.includes("--overwrite");
    const [word, file, ...more] = words.filter((one) => one !== "--overwrite");
    if (word === undefined) return showList(chat);
    if (more.length > 0)
      throw new UsageError("/result needs a number and at most one file.", "Such as /result 1 a.txt");
    const result = resultNamed(word, chat);
    if (file === undefined) showWhole(result, chat);
    else await save(result, { file, overwrite }, chat);
  },
  suggest: (words, { results }) =>
    words.includes(" ")
      ? undefined
      : wordMenu(
          words,
          results.all
            .toReversed()
            .map((result) => ({ value: String(result.number), detail: `${result.name}  ${summaryOf(result)}` })),
        ),
};

function resultNamed(word: string, { results }: Chat): ShownResult {
  const number = /^#?\d+$/.test(word) ? Number(word.replace("#", "")) : NaN;
  const result = results.find(number);
  if (result) return result;
  if (results.count === 0) throw new UsageError("No tool was called yet.", "/call calls one.");
  if (number >= 1 && number <= results.count) {
    throw new UsageError(`Result ${number} is no longer in memory, because newer results are large.`);
  }
  throw new UsageError(
    `There is no result ${JSON.stringify(word)}.`,
    `The last one is ${results.count}: /result lists them.`,
  );
}

function showList({ results, terminal, view }: Chat): void {
  if (results.count === 0) return terminal.print("No tool was called yet.");
  for (const result of results.all) {
    const { number, name } = result;
    terminal.print(`${String(number).padStart(3)}  ${visibleLine(name)}  ${view.style.dim(summaryOf(result))}`);
  }
}

/** Returns the size of a result in a few words, such as `1,000 lines, 1 file`. */
function summaryOf(result: ShownResult): string {
  const lines = linesOf(result).length;
  const files = result.files.map(fileLine);
  return [
    ...(result.isError ? ["error"] : []),
    ...(lines > 0 ? [`${lines.toLocaleString("en")} line${lines === 1 ? "" : "s"}`] : []),
    ...files,
  ].join(", ");
}

function showWhole(result: ShownResult, { terminal, view }: Chat): void {
  const { dim } = view.style;
  terminal.print(dim(`Result ${result.number} of ${visibleLine(result.name)}`));
  for (const remark of result.remarks) terminal.print(dim(printable(remark)));
  if (result.text !== "") terminal.print(printable(result.text));
  for (const file of result.files) terminal.print(dim(`[${fileLine(file)}]`));
}

/** The file of the command line, and whether an existing one is replaced. */
interface SaveTarget {
  readonly file: string;
  readonly overwrite: boolean;
}

/** Writes the files of a result, or its text if it has none. Several files get a number before the extension. */
async function save({ files, text }: ShownResult, target: SaveTarget, { io, terminal }: Chat): Promise<void> {
  const { file, overwrite } = target;
  const place = { cwd: io.cwd, home: io.env.HOME, overwrite };
  const contents = files.length === 0 ? [Buffer.from(text)] : files.map(({ data }) => Buffer.from(data, "base64"));
  for (const [index, content] of contents.entries()) {
    const name = contents.length === 1 ? file : file.replace(/(?=\.[^./\\]*$)|$/, `-${index + 1}`);
    terminal.print(await writeNewFile(name, content, place));
  }
}
