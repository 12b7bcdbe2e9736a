import { connect } from "mcparley/client";
import { followTasks } from "mcparley/tasks";
import type { OfficialClient, OfficialResult } from "../../interop/official-clients.ts";

/** The client of a conversation, independent of its implementation. */
export type Speaker = Pick<OfficialClient, "callTool" | "listTools" | "readResource" | "watch" | "close">;

/** The answers of all clients to elicitation and sampling. */
export const answered = { word: "hello", thought: "In short: read the guide." };

export interface OursOptions {
  revision?: string;
  headers?: Record<string, string>;
  onError?: (error: Error) => void;
}

/** Our client, in the words of the official ones. */
export async function connectOurs(
  url: string,
  { revision = "auto", headers = {}, onError }: OursOptions,
): Promise<Speaker> {
  const client = await connect(
    { url, headers },
    {
      revision,
      elicit: () => ({ action: "accept", content: { word: answered.word } }),
      sample: () => ({ role: "assistant", model: "scripted", content: { type: "text", text: answered.thought } }),
      extensions: [followTasks()],
      cache: false,
      ...(onError && { onError }),
    },
  );
  return {
    listTools: () => client.listTools().all(),
    callTool: (name, args, { onprogress, signal } = {}) =>
      client.callToolResult(
        name,
        { ...args },
        { ...(onprogress && { onProgress: onprogress }), ...(signal && { signal }) },
      ),
    readResource: (uri) => client.readResource(uri),
    async watch(uri, onChange) {
      await client.listen({ uris: [uri] }, ({ kind }) => onChange(kind === "updated" ? "updated" : "listed"));
    },
    close: () => client.close(),
  };
}

/** The text of a result. */
export const textOf = ({ content }: OfficialResult): string => content.map(({ text }) => text ?? "").join("");
