import type { ContentBlock } from "mcparley/client";
import { isRepeated } from "@mcparley/internal/repeated-content";
import { withoutDeepLevels } from "../values/map-texts.ts";

/**
 * Returns the JSON of structured content for the model. Returns undefined if the blocks of the result repeat the content, as they do
 * for clients that do not know it. The data of a file of the result is not repeated as text.
 */
export function structuredText(structuredContent: unknown, blocks: readonly ContentBlock[]): string | undefined {
  if (structuredContent === undefined || isRepeated(structuredContent, blocks)) return undefined;
  const fileData = new Set(blocks.map(dataOf));
  return JSON.stringify(withoutDeepLevels(structuredContent), (_name, value: unknown) =>
    typeof value === "string" && fileData.has(value) ? "[the data of a file of this result]" : value,
  );
}

function dataOf(block: ContentBlock): string | undefined {
  if (block.type === "image" || block.type === "audio") return block.data;
  return block.type === "resource" && "blob" in block.resource ? block.resource.blob : undefined;
}
