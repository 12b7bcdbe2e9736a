// @ts-check

/**
 * Posts one request of 2026-07-28.
 *
 * @param {string} url
 * @param {string} method
 * @param {{ params: { name?: string, taskId?: string, [param: string]: unknown }, capabilities?: object }} request
 */
export function post(url, method, { params, capabilities = {} }) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": params.name ?? params.taskId ?? "",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  });
}

/**
 * Reads the message in the reply to a POST. A slow server replies with an event stream, in which comments precede it.
 *
 * @param {Response} response
 */
export async function readReply(response) {
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const json = isStream ? (/^data: (.*)$/m.exec(text)?.[1] ?? "{}") : text;
  return /** @type {Record<string, any>} */ (JSON.parse(json));
}
