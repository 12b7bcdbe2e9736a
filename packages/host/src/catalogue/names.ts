import { createHash } from "node:crypto";

const commonNames = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The rules of the large model providers for the names of functions. A name for the model follows all of them, so that a conversation can
 * change its model. Anthropic accepts 128 characters today; its reference and its resellers still state 64.
 */
export const nameRules: readonly { readonly provider: string; readonly pattern: RegExp; readonly source: string }[] = [
  { provider: "OpenAI", pattern: commonNames, source: "https://platform.openai.com/docs/api-reference/chat/create" },
  {
    provider: "Anthropic",
    pattern: commonNames,
    source: "https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use",
  },
  {
    provider: "Google",
    pattern: /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/,
    source: "https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/FunctionDeclaration",
  },
  {
    provider: "Amazon Bedrock",
    pattern: commonNames,
    source: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html",
  },
  { provider: "Mistral", pattern: commonNames, source: "https://github.com/Kochava-Studios/witsy/pull/164" },
];

const MAX_NAME_CHARS = 64;
/** Characters of the hash in a name: 60 bits of SHA-256. */
const HASH_CHARS = 12;
/** Characters of the server's name that a name with a hash has at most. */
const SERVER_PREFIX_CHARS = 20;

const SEPARATOR = "__";
const hashAlphabet = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * Returns the name of a tool for the model.
 *
 * It depends on the names of the server and of the tool only, so it is the same in each run and beside any other server. Two
 * forms exist:
 *
 * - `server__tool`, if the result follows the rules of all providers, and the server's name neither contains `__` nor ends with
 *   `_`. The first `__` is then always the end of the server's name, so no other pair has this name.
 * - `server_tool_hash` otherwise: a readable part, and 12 characters of a hash of both names. It never contains `__`, so it
 *   differs from each name of the first form.
 */
export function toolName(server: string, tool: string): string {
  const name = server + SEPARATOR + tool;
  const isReversible = server !== "" && tool !== "" && !server.includes(SEPARATOR) && !server.endsWith("_");
  if (isReversible && nameRules.every(({ pattern }) => pattern.test(name))) return name;
  return hashedName(server, tool);
}

function hashedName(server: string, tool: string): string {
  const parts = [readable(server).slice(0, SERVER_PREFIX_CHARS), readable(tool)];
  const prefix = parts.filter((part) => part !== "").join("_");
  // The rules of Google exclude a digit or a dash at the start.
  const start = /^[a-zA-Z]/.test(prefix) ? prefix : `tool_${prefix}`;
  const readablePart = start.slice(0, MAX_NAME_CHARS - HASH_CHARS - 1).replace(/_+$/, "");
  return `${readablePart}_${hashOf(server, tool)}`;
}

/** Maximum characters of a name that are read for the readable part. */
const MAX_READ_CHARS = 256;

/** Returns the ASCII letters, digits and dashes of a name. Accents are removed, and `_` replaces other characters. */
function readable(name: string): string {
  const letters = name.slice(0, MAX_READ_CHARS).normalize("NFKD").replaceAll(/\p{M}/gu, "");
  return letters.replaceAll(/[^a-zA-Z0-9-]+/g, "_").replaceAll(/^_+|_+$/g, "");
}

function hashOf(server: string, tool: string): string {
  // JSON separates the names and escapes lone surrogates, so different pairs have different texts.
  const digest = createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest();
  return Array.from(digest.subarray(0, HASH_CHARS), (byte) => hashAlphabet[byte % 32]).join("");
}

/** Returns the name of a prompt: `server:prompt`. A colon or percent sign in the server's name is percent-encoded. */
export function promptName(server: string, prompt: string): string {
  const serverPart = server.replaceAll("%", "%25").replaceAll(":", "%3A");
  return `${serverPart}:${prompt}`;
}
