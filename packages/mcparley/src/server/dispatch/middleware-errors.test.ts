import { expect, test } from "vitest";
import { openPeer } from "mcparley-tests/support/raw-peer.ts";
import { ToolError } from "../../mcp/errors.ts";
import { createServer } from "../create-server.ts";
import { prompt, tool } from "../definition.ts";

test.each(["2026-07-28", "2025-11-25", "2024-11-05"])(
  "a ToolError of middleware is a tool error of tools/call, and an error of other methods, on %s",
  async (version) => {
    const errors: unknown[] = [];
    const server = createServer({
      name: "x",
      version: "1",
      tools: { t: tool({ call: () => "never" }) },
      prompts: { p: prompt({ get: () => "never" }) },
      onError: (error) => errors.push(error),
    });
    const refuse = (): never => {
      throw new ToolError("Closed on Sundays.");
    };
    server.use({ "tools/call": refuse, "prompts/get": refuse });
    const peer = await openPeer(server, version);
    expect((await peer.request("tools/call", { name: "t" })).result).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "Closed on Sundays." }],
    });
    expect((await peer.request("prompts/get", { name: "p" })).error).toMatchObject({ message: "Closed on Sundays." });
    expect(errors).toEqual([]);
  },
);
