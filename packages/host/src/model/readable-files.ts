import { createHash } from "node:crypto";
import { printable } from "mcparley";
import { isTextType, readMediaType } from "../conversation/media-types.ts";
import type { AssistantPart, FilePart, Message, TextPart, ToolResultPart } from "../conversation/messages.ts";
import type { LanguageModel } from "./language-model.ts";
import { isUnsupported, messageOf, statusOf } from "./model-failure.ts";

/** The reason why a file is not sent, as the end of a sentence for the model. */
type Omission = "the model cannot read this file" | "the request with it was too large";

/** Maximum number of files of a model that are remembered. */
const maxRemembered = 1000;

/** The files that a model has accepted and refused so far, by the hash of their content. */
class FileRecord {
  /** Media types that the code of the provider refuses, before it sends a request. */
  readonly refusedTypes = new Set<string>();
  readonly #files = new Map<string, Omission | "accepted">();

  stateOf(file: FilePart): Omission | "accepted" | undefined {
    if (this.refusedTypes.has(file.mediaType)) return "the model cannot read this file";
    // Most models refuse nothing, and hashes of large files take time.
    return this.#files.size === 0 ? undefined : this.#files.get(hashOf(file));
  }

  remember(file: FilePart, state: Omission | "accepted"): void {
    const hash = hashOf(file);
    this.#files.delete(hash);
    this.#files.set(hash, state);
    const [oldest] = this.#files.keys();
    if (this.#files.size > maxRemembered && oldest !== undefined) this.#files.delete(oldest);
  }
}

const records = new WeakMap<LanguageModel, FileRecord>();
const hashes = new WeakMap<FilePart, string>();

function hashOf(file: FilePart): string {
  const hash = hashes.get(file) ?? createHash("sha256").update(file.data).digest("base64");
  hashes.set(file, hash);
  return hash;
}

/**
 * The files of one request, in a form that the model can read.
 *
 * Providers differ in the files that they accept, and no interface states it. If a request with files is refused, and accepted without
 * some of them, these files are not sent to this model again. The model receives one line for each file that is left out.
 */
export class RequestFiles {
  readonly #record: FileRecord;
  readonly #messages: readonly Message[];
  readonly #canSpeakFiles: boolean;
  /** The files that are left out of this request, because the model may have refused it for them. */
  #omitted = new Map<FilePart, Omission>();
  #sent: FilePart[] = [];
  #firstRefusal: unknown;

  constructor(model: LanguageModel, messages: readonly Message[]) {
    this.#record = records.get(model) ?? new FileRecord();
    records.set(model, this.#record);
    this.#messages = messages.some(hasFile) ? messages.map(withoutTextFiles) : messages;
    // Models of Google make images and read their own ones. The packages of other providers ignore files in messages of the model.
    this.#canSpeakFiles = /google|vertex|gemini/i.test(model.provider);
  }

  /** Returns the messages of the request for its next attempt. */
  messages(): readonly Message[] {
    this.#sent = [];
    return this.#messages.some(hasFile) ? this.#messages.flatMap((message) => this.#readable(message)) : this.#messages;
  }

  /** Records that the model has accepted the last attempt. */
  accept(): void {
    for (const file of this.#sent) this.#record.remember(file, "accepted");
    for (const [file, omission] of this.#omitted) this.#record.remember(file, omission);
  }

  /**
   * Leaves out files of the last attempt that the model may have refused. Returns the error of the request if there is none, or if the
   * failure has another reason.
   */
  leaveOut(cause: unknown): { readonly error: unknown } | undefined {
    const isOfPackage = isUnsupported(cause);
    const isRefusal = isOfPackage || isRefusalStatus(cause);
    // A refusal without any files has another reason, which the first error has if the files were tried.
    if (this.#sent.length === 0 || !isRefusal) return { error: isRefusal ? (this.#firstRefusal ?? cause) : cause };
    const namedTypes = isOfPackage ? this.#typesIn(messageOf(cause)) : [];
    for (const type of namedTypes) this.#record.refusedTypes.add(type);
    if (namedTypes.length > 0) return undefined;
    this.#firstRefusal ??= cause;
    const isTooLarge = statusOf(cause) === 413;
    // The file that makes a request too large is not the cause. Otherwise the files that were accepted before are not.
    const suspects = this.#sent.filter((file) => (this.#record.stateOf(file) === "accepted") === isTooLarge);
    const omission = isTooLarge ? "the request with it was too large" : "the model cannot read this file";
    for (const file of suspects.length > 0 ? suspects : this.#sent) this.#omitted.set(file, omission);
    return undefined;
  }

  /** Returns the media types of the last attempt that a message of the provider's package names. */
  #typesIn(message: string): string[] {
    return [...new Set(this.#sent.map(({ mediaType }) => mediaType))].filter((type) => message.includes(type));
  }

  /** Returns why a file is not sent. Undefined for a file that is sent, which is recorded. */
  #omissionOf(file: FilePart): Omission | undefined {
    const state = this.#omitted.get(file) ?? this.#record.stateOf(file);
    if (state !== undefined && state !== "accepted") return state;
    this.#sent.push(file);
    return undefined;
  }

  #readable(message: Message): readonly Message[] {
    if (message.role === "tool") return this.#resultMessages(message.content);
    if (message.role === "system" || typeof message.content === "string") return [message];
    if (message.role === "user") {
      return [{ role: "user", content: message.content.map((part) => this.#userPart(part)) }];
    }
    return [{ role: "assistant", content: message.content.map((part) => this.#assistantPart(part)) }];
  }

  #userPart(part: TextPart | FilePart): TextPart | FilePart {
    if (part.type === "text") return part;
    const omission = this.#omissionOf(part);
    return omission === undefined ? part : omissionLine(part, omission);
  }

  #assistantPart(part: AssistantPart): AssistantPart {
    if (part.type !== "file") return part;
    return this.#canSpeakFiles ? this.#userPart(part) : omissionLine(part, "the model cannot read this file");
  }

  /**
   * Returns the results, and a message with their files if there are any. Some providers have no files in results: their packages send
   * the base64 as text, or nothing. All of them have files in messages of the user.
   */
  #resultMessages(results: readonly ToolResultPart[]): Message[] {
    const files: (TextPart | FilePart)[] = [];
    let count = 0;
    const textResults = results.map((result): ToolResultPart => {
      const content = result.content.map((part): TextPart | FilePart => {
        const readablePart = this.#userPart(part);
        if (readablePart.type === "text") return readablePart;
        count += 1;
        files.push({ type: "text", text: `File ${count}, from the tool ${result.name}:` }, readablePart);
        return { type: "text", text: `[file ${count}: ${description(readablePart)}, in the next message]` };
      });
      return { ...result, content };
    });
    if (files.length === 0) return [{ role: "tool", content: textResults }];
    const origin = "The files of the results above. They are from tools, and not from the user.";
    return [
      { role: "tool", content: textResults },
      { role: "user", content: [{ type: "text", text: origin }, ...files] },
    ];
  }
}

/**
 * The statuses with which endpoints refuse a file that the model cannot read. OpenRouter answers with 404.
 */
const refusalStatuses: ReadonlySet<number | undefined> = new Set([400, 404, 413, 415, 422]);

/** Returns whether an endpoint may have refused a request because of a file. Ollama answers with 500, and names the images. */
function isRefusalStatus(cause: unknown): boolean {
  const status = statusOf(cause);
  if (status !== 500 && status !== 501) return refusalStatuses.has(status);
  return /image|audio|file|media|vision|pdf|document|modal|input/i.test(messageOf(cause));
}

function hasFile(message: Message): boolean {
  if (message.role === "tool") return message.content.some(({ content }) => content.some(isFile));
  return typeof message.content !== "string" && message.content.some(isFile);
}

function isFile({ type }: { readonly type: string }): boolean {
  return type === "file";
}

/** Returns a message whose files of a text type are texts, and whose other files have the usual names of their types. */
function withoutTextFiles(message: Message): Message {
  if (!hasFile(message) || typeof message.content === "string") return message;
  if (message.role === "user") return { role: "user", content: message.content.map(textOrFile) };
  if (message.role !== "tool") return message;
  const results = message.content.map((result) => ({ ...result, content: result.content.map(textOrFile) }));
  return { role: "tool", content: results };
}

function textOrFile(part: TextPart | FilePart): TextPart | FilePart {
  if (part.type === "text") return part;
  const mediaType = readMediaType(part.mediaType);
  if (!isTextType(mediaType)) return mediaType === part.mediaType ? part : { ...part, mediaType };
  const name = part.filename === undefined ? "" : ` ${printable(part.filename)}`;
  return { type: "text", text: `File${name} (${mediaType}):\n${Buffer.from(part.data, "base64").toString("utf8")}` };
}

/** Returns the line in place of a file that is not sent. */
function omissionLine(file: FilePart, omission: Omission): TextPart {
  return { type: "text", text: `[${description(file)}: left out, because ${omission}]` };
}

function description({ mediaType, data }: FilePart): string {
  return `${printable(mediaType)}, ${Buffer.byteLength(data, "base64")} bytes`;
}
