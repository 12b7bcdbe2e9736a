import { randomUUID } from "node:crypto";
import { type ContentBlock, ErrorCode, type PromptMessage, ProtocolError, type Role } from "mcparley";
import { type Context, audio, image, link, requireScopes } from "mcparley/server";
import type { Liquid, Template } from "liquidjs";
import { mimeTypeOf } from "../files/file-types.ts";
import type { MarkCollector } from "./placed-mark.ts";
import type { Mark } from "./prompt-marks.ts";
import { type LinkScope, findLinked } from "./prompt-links.ts";
import { problemAt } from "../yaml/problem.ts";
import { templateProblem } from "./prompt-engine.ts";
import { nameOf } from "../resources/resource-files.ts";
import { readFile } from "../resources/resources.ts";
import type { ScopeRules } from "../settings/scope-rules.ts";

/** Maximum number of characters of one rendered prompt. */
const outputLimit = 4 * 1024 ** 2;

export interface PromptSource {
  /** Relative to the folder. */
  file: string;
  templates: Template[];
  engine: Liquid;
  scope: LinkScope & { fileSize: number; rules: ScopeRules };
}

/** Renders a prompt with its arguments and returns its messages. */
export async function renderMessages(
  source: PromptSource,
  values: Record<string, string | null>,
  principal: Context["principal"],
): Promise<PromptMessage[]> {
  const collector: MarkCollector = { boundary: `\0${randomUUID()}\0`, marks: [] };
  const messages: PromptMessage[] = [];
  let role: Role = "user";
  const add = (content: ContentBlock): void => void messages.push({ role, content });
  const pieces = (await render(source, values, collector)).split(collector.boundary);
  // Text and the numbers of marks alternate.
  for (const [index, piece] of pieces.entries()) {
    const mark = index % 2 === 1 ? collector.marks[Number(piece)] : undefined;
    if (mark?.kind === "role") role = mark.role;
    else if (mark) add(await contentOf(mark, source, principal));
    else if (piece.trim() !== "") add({ type: "text", text: trimLines(piece) });
  }
  if (messages.length > 0) return messages;
  const cure = "Give it a text that does not depend on a condition.";
  throw problemAt({ file: source.file, line: 1 }, "the prompt is empty for these arguments", cure);
}

async function render(
  { file, templates, engine, scope }: PromptSource,
  values: Record<string, string | null>,
  collector: MarkCollector,
): Promise<string> {
  try {
    const renderedText = (await engine.render(templates, values, { globals: collector })) as string;
    if (renderedText.length <= outputLimit) return renderedText;
  } catch (error) {
    throw templateProblem(error, { folder: scope.folder, file, source: "" });
  }
  const message = `The rendered prompt has more than ${outputLimit} characters. Give shorter arguments.`;
  throw new ProtocolError(ErrorCode.InvalidParams, message);
}

/**
 * Returns the content of a mark: image or audio content for pictures and sounds, an embedded resource for other files,
 * a resource link for a link.
 */
async function contentOf(
  mark: Exclude<Mark, { kind: "role" }>,
  source: PromptSource,
  principal: Context["principal"],
): Promise<ContentBlock> {
  const { scope, file } = source;
  const linkedFile = await findLinked(mark.target, file, scope);
  if (!linkedFile) {
    const message = `The prompt refers to "${mark.target.slice(0, 200)}", which does not exist.`;
    throw new ProtocolError(ErrorCode.InvalidParams, message);
  }
  const { root, path, uri } = linkedFile;
  const { fileSize, rules } = scope;
  const name = path.slice(path.lastIndexOf("/") + 1);
  requireScopes(rules.scopesOf(nameOf(linkedFile)), principal);
  if (mark.kind === "link") return linkTo(linkedFile, { name, title: mark.label });
  const contents = await readFile(root, path, { uri: uri ?? path, fileSize, rules, principal });
  const mimeType = mimeTypeOf(name, () => "text" in contents);
  if ("blob" in contents && mimeType.startsWith("image/")) return image(contents.blob, mimeType);
  if ("blob" in contents && mimeType.startsWith("audio/")) return audio(contents.blob, mimeType);
  if (uri === undefined) throw notAResource(mark.target);
  return { type: "resource", resource: { uri, mimeType, ...contents } };
}

function linkTo(
  { uri, path }: { uri: string | undefined; path: string },
  label: { name: string; title: string },
): ContentBlock {
  if (uri === undefined) throw notAResource(path);
  const mimeType = mimeTypeOf(label.name, () => true);
  return link(uri, { name: label.name, mimeType, ...(label.title !== "" && { title: label.title }) });
}

function notAResource(path: string): ProtocolError {
  return new ProtocolError(
    ErrorCode.InvalidParams,
    `The prompt refers to "${path.slice(0, 200)}", which is not a resource.`,
  );
}

/** Removes the blank lines around a text and keeps its indentation. */
function trimLines(piece: string): string {
  return piece.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
}
