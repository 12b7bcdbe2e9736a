import { expect, test } from "vitest";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { toFetch } from "../to-fetch.ts";

const serverWith = (header: string): ReturnType<typeof createServer> => {
  const input = { type: "object", properties: { region: { type: "string", "x-mcp-header": header } } } as const;
  return createServer({ name: "test", version: "1", tools: { deploy: tool({ input, call: () => "done" }) } });
};

test("toFetch refuses a tool with an invalid x-mcp-header", () => {
  expect(() => toFetch(serverWith("My Region"))).toThrow(
    expect.objectContaining({
      code: "invalid_definition",
      message: expect.stringMatching(/tool "deploy".*x-mcp-header of "region" is "My Region"/) as string,
    }) as Error,
  );
  expect(() => toFetch(serverWith("Region"))).not.toThrow();
});
