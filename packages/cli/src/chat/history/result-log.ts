import { isRepeated } from "@mcparley/internal/repeated-content";
import type { ToolOutcome, ToolResultPart } from "@mcparley/host";
import type { CallToolResult } from "mcparley";
import { readContent } from "mcparley/client";
import { type Binary, binaryOf, showContent, showJson } from "../../terminal/show-content.ts";
import { styleFor } from "../../terminal/text.ts";
import { partText } from "./message-text.ts";

/** A result of a tool, as a person sees it: complete, and not only the part that the model received. */
export interface ShownResult {
  /** The number for `/result`. */
  readonly number: number;
  /** The name of the tool for the model. */
  readonly name: string;
  readonly isError: boolean;
  /** The text of the server, or the reason why there is none. It is not escaped. */
  readonly text: string;
  /** The sentences of the host about the result. */
  readonly remarks: readonly string[];
  readonly files: readonly ResultFile[];
  /** The bytes of the text that the model received, if they are not all of it. */
  readonly sentBytes: number | undefined;
}

/** A file of a result. */
export interface ResultFile extends Binary {
  /** Whether the model received it. */
  readonly isSent: boolean;
}

/** Characters of all results that are kept. The oldest ones are dropped. */
const maxKept = 64 * 1024 * 1024;

/** The remark of the host about a text that is too long for the model. */
const handleRemark = /^The text has \d+ bytes, and the part above ends at byte (\d+)\./;

/** The results of a chat in their order. They are numbered from 1, and a number is not used again. */
export class ResultLog {
  readonly #results = new Map<number, ShownResult>();
  readonly #maxKept: number;
  #count = 0;
  #kept = 0;

  /** `limit` is the number of characters of all results that are kept. Default: 64 Mi. */
  constructor(limit: number = maxKept) {
    this.#maxKept = limit;
  }

  /** The results that are kept. */
  get all(): readonly ShownResult[] {
    return [...this.#results.values()];
  }

  /** The number of the last result. 0 if there is none. */
  get count(): number {
    return this.#count;
  }

  find(number: number): ShownResult | undefined {
    return this.#results.get(number);
  }

  /** Adds a result. `outcome` is undefined if no server was called. */
  add({ name, content, isError }: Omit<ToolResultPart, "type" | "callId">, outcome?: ToolOutcome): ShownResult {
    const texts = content.flatMap((part) => (part.type === "text" ? part : []));
    const sentBytes = texts.flatMap(({ text, from }) => (from ? [] : [handleRemark.exec(text)?.[1] ?? []].flat()))[0];
    const remarks = texts.flatMap(({ text, from }) => (from || handleRemark.test(text) ? [] : text));
    const result = outcome?.status === "result" ? outcome.result : undefined;
    const sentFiles = content.flatMap((part) => (part.type === "file" ? part : []));
    const shownResult: ShownResult = {
      number: ++this.#count,
      name,
      isError,
      text: result ? textOf(result) : texts.flatMap((part) => (part.from ? partText(part) : [])).join("\n"),
      remarks,
      files: result
        ? readContent(result.content).flatMap((block) => {
            const file = binaryOf(block);
            return file ? { ...file, isSent: sentFiles.some(({ data }) => data === file.data) } : [];
          })
        : sentFiles.map(({ data, mediaType }) => ({ data, mimeType: mediaType, isSent: true })),
      sentBytes: sentBytes === undefined ? undefined : Number(sentBytes),
    };
    this.#keep(shownResult);
    return shownResult;
  }

  #keep(result: ShownResult): void {
    this.#results.set(result.number, result);
    this.#kept += sizeOf(result);
    for (const oldest of this.#results.values()) {
      if (this.#kept <= this.#maxKept || oldest === result) return;
      this.#results.delete(oldest.number);
      this.#kept -= sizeOf(oldest);
    }
  }
}

function sizeOf({ text, files }: ShownResult): number {
  return files.reduce((sum, { data }) => sum + data.length, text.length);
}

const plainView = { terminal: false, width: Infinity, style: styleFor(false, {}) };

/** Returns the text of a result without its files: its texts and links, and structured content that they do not repeat. */
function textOf({ content, structuredContent }: CallToolResult): string {
  const blocks = readContent(content).filter((block) => !binaryOf(block));
  const texts = blocks.map((block) => showContent(block, plainView));
  if (structuredContent !== undefined && !isRepeated(structuredContent, blocks))
    texts.push(showJson(structuredContent, plainView));
  return texts.join("\n");
}
