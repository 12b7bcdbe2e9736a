/** The source of a server on stdio that needs no library. `tools/call` runs `onCall`, which is JavaScript. */
export function serverSource({ start = "", onCall = "" }: { start?: string; onCall?: string } = {}): string {
  return `
const answer = (id, body) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...body }) + "\\n");
${start}
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const serverInfo = { name: "started", version: "1" };
  const tool = { name: "work", inputSchema: { type: "object" } };
  if (method === "initialize") {
    answer(id, { result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list") answer(id, { result: { tools: [tool] } });
  else if (method === "tools/call") { ${onCall} }
  else if (id !== undefined) answer(id, { error: { code: -32601, message: "Unknown method" } });
});
`;
}
