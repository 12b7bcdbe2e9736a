import type { Client } from "../../../client/calls/client.ts";
import type { RequestOptions } from "../../../client/options.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { isObject } from "../../../rpc/messages.ts";
import type { ResourceContents } from "../../../mcp/content.ts";
import { digestOf, exactText } from "../digest.ts";
import type { SkillResource } from "../skill-entry.ts";
import { SkillRefused } from "./skill-refused.ts";

/** A file of a skill, read and verified. */
export interface SkillContent {
  readonly uri: string;
  readonly mimeType?: string;
  /** Undefined where it is no UTF-8. */
  readonly text: string | undefined;
  readonly bytes: Uint8Array;
  /** Whether size and digest were checked; false for the files of dynamic skills alone. */
  readonly isVerified: boolean;
}

/**
 * Reads one file and verifies it against what the entry says (Verification on Read). It is asked of the server anew,
 * since a kept result may be older than the entry.
 */
export async function readFile(
  client: Client,
  { uri, listed }: { uri: string; listed: SkillResource | undefined },
  options: RequestOptions,
): Promise<SkillContent> {
  const { contents } = await client.readResource(uri, { ...options, fresh: true });
  const [content, ...others] = contents;
  if (!isObject(content) || others.length > 0 || content.uri !== uri) {
    throw new LocalError("invalid_message", `${uri} was read as ${contents.length} contents, and not as itself.`);
  }
  const bytes = bytesOf(content);
  if (listed) await verify(listed, bytes);
  const { mimeType } = content;
  return {
    uri,
    ...(typeof mimeType === "string" && { mimeType }),
    text: exactText(bytes),
    bytes,
    isVerified: listed !== undefined,
  };
}

async function verify({ uri, size, digest }: SkillResource, bytes: Uint8Array): Promise<void> {
  if (bytes.length !== size) {
    throw new SkillRefused("size", uri, `${uri} has ${bytes.length} bytes, and its skill says ${size}. ${stale}`);
  }
  if ((await digestOf(bytes)) !== digest) {
    throw new SkillRefused("digest", uri, `The content of ${uri} is not what its skill says. ${stale}`);
  }
}

const stale = "If the skill has changed, get it again: then it needs to be approved again, too.";

function bytesOf(content: ResourceContents): Uint8Array {
  const { text, blob } = content as { text?: unknown; blob?: unknown };
  if (typeof text === "string") return new TextEncoder().encode(text);
  try {
    if (typeof blob === "string") return Uint8Array.from(atob(blob), (char) => char.charCodeAt(0));
  } catch {
    // Reported below like any other content that is none.
  }
  throw new LocalError("invalid_message", `${content.uri} was read as neither text nor base64.`);
}
