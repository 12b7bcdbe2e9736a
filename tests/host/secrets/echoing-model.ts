import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "../../../packages/host/src/model/language-model.ts";
import { chunk, usageChunk } from "../../support/openai-endpoint.ts";

/** A model over HTTP that calls all of its tools once, and then answers. Its reasoning, arguments and texts contain the key of its provider. */
export interface EchoingModel {
  readonly model: LanguageModel;
  /** The bodies of all requests. */
  readonly requests: readonly string[];
  /** Makes the next requests fail with a status, and the headers of the request in the body. */
  fail(this: void, status: number): void;
  close(this: void): Promise<void>;
}

interface Body {
  readonly messages: readonly { readonly role: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** Starts the endpoint of the model. */
export async function echoingModel(apiKey: string): Promise<EchoingModel> {
  const requests: string[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests.push(body);
      const sent = JSON.stringify(request.headers);
      if (status !== 200) {
        response.writeHead(status, { "content-type": "application/json", "x-sent": sent });
        response.end(JSON.stringify({ error: { message: `You sent ${sent}`, param: sent, code: sent } }));
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream", "x-sent": sent });
      for (const part of answerTo(JSON.parse(body) as Body, apiKey))
        response.write(`data: ${JSON.stringify(part)}\n\n`);
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    model: createOpenAICompatible({ name: "echoing", baseURL, apiKey, includeUsage: true })("test-model"),
    requests,
    fail: (next) => (status = next),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function answerTo({ messages, tools = [] }: Body, key: string): object[] {
  const usage = usageChunk(10, 5);
  if (tools.length === 0 || messages.some(({ role }) => role === "tool")) {
    const text = { role: "assistant", reasoning_content: `Think ${key}.`, content: `Done with ${key}.` };
    return [chunk(text), chunk({}, "stop"), usage];
  }
  const calls = tools.map(({ function: { name } }, index) => ({
    index,
    id: `call-${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(name === "read_result" ? { handle: key } : { answer: key }) },
  }));
  return [chunk({ role: "assistant", tool_calls: calls }), chunk({}, "tool_calls"), usage];
}
