import type { JsonObject } from "mcparley";
import { type JsonRpcRequest, type ScriptedPeer, modernPeer } from "mcparley/testing";

/**
 * A text that tries to clear the screen, write to the clipboard, set colours, remove a line, ring the bell, and reorder what is shown. It
 * contains no sequence that the terminal of a chat without colours writes itself.
 */
export const hostile =
  "evil\u001b[2J\u001b]52;c;ZXZpbA==\u0007\u009b31m\u001b[31m\r\u001b[2Kred\rCR\u0007\u0008\u007f\u202eidib\u2066\u200b\u061c end";

/** Matches each character of `hostile` that must not reach a terminal. */
// oxlint-disable-next-line no-control-regex, no-misleading-character-class -- matches control characters
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069]/;

/** Matches the sequences that a terminal without colours writes itself. */
const own =
  // oxlint-disable-next-line no-control-regex -- matches escape sequences
  /\u001b\[\?(?:2026|25|2004)[hl]|\r(?:\u001b\[\d+A)?(?:\u001b\[J|(?:\u001b\[\d+C)?\u001b\[\?25h)/g;

/** Returns the first unsafe character of an output and the text around it. Undefined if there is none. */
export function unsafeIn(raw: string): string | undefined {
  const text = raw.replaceAll(own, "");
  const at = text.search(unsafe);
  return at === -1 ? undefined : JSON.stringify(text.slice(Math.max(0, at - 60), at + 20));
}

const noCache = { ttlMs: 0, cacheScope: "private" };
const text = { type: "text", text: hostile };

/** Returns the side of a server that answers each request with hostile texts. */
export function hostilePeer(): ScriptedPeer {
  const peer = modernPeer({
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {}, logging: {} },
    answers: {
      "tools/list": () => ({ tools: [toolNamed(`run ${hostile}`), toolNamed("run"), toolNamed("fail")], ...noCache }),
      "prompts/list": () => ({
        prompts: [
          { name: `plan ${hostile}`, description: hostile },
          {
            name: "plan",
            description: hostile,
            arguments: [{ name: `day ${hostile}`, description: hostile, required: true }],
          },
        ],
        ...noCache,
      }),
      "resources/list": () => ({
        resources: [
          { uri: `evil://${hostile}`, name: hostile, title: hostile, description: hostile, mimeType: hostile },
          { uri: "evil://plain", name: "plain", description: hostile },
        ],
        ...noCache,
      }),
      "resources/templates/list": () => ({
        resourceTemplates: [{ uriTemplate: "evil://{id}", name: hostile, description: hostile }],
        ...noCache,
      }),
      "resources/read": () => ({ contents: [{ uri: "evil://plain", mimeType: hostile, text: hostile }], ...noCache }),
      "prompts/get": () => ({ description: hostile, messages: [{ role: "user", content: text }] }),
      "completion/complete": () => ({ completion: { values: [hostile, "\u001b[31mred", "\u202eidib", "plain"] } }),
      "tools/call": (request: JsonRpcRequest) => {
        const { name, _meta } = request.params as { name: string; _meta?: { progressToken?: string | number } };
        const token = _meta?.progressToken;
        if (token !== undefined) {
          peer.notify("notifications/progress", { progressToken: token, progress: 1, total: 2, message: hostile });
        }
        peer.notify("notifications/message", { level: "error", logger: hostile, data: hostile });
        peer.notify("notifications/message", { level: "warning", data: { [hostile]: hostile } });
        return { content: [text], isError: name === "fail" };
      },
    },
  });
  return peer;
}

function toolNamed(name: string): JsonObject {
  return {
    name,
    title: hostile,
    description: `${hostile}\n${hostile}`,
    annotations: { title: hostile },
    inputSchema: {
      type: "object",
      properties: { [`key ${hostile}`]: { type: "string", description: hostile, enum: [hostile] } },
    },
  };
}
