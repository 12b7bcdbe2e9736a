import { completable, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const cities = ["Bergen", "Berlin", "Oslo"];
const suggest = (typed: string) => cities.filter((city) => city.startsWith(typed));

serveStdio(() => {
  const server = new McpServer({ name: "travel", version: "1.0.0" });
  server.registerPrompt(
    "packing",
    {
      description: "Plans what to pack for a trip.",
      argsSchema: z.object({ city: completable(z.string(), suggest) }),
    },
    ({ city }) => {
      const text = `What should I pack for a weekend in ${city}?`;
      return { messages: [{ role: "user", content: { type: "text", text } }] };
    },
  );
  server.registerResource(
    "guide",
    new ResourceTemplate("guide://{city}", { list: undefined, complete: { city: suggest } }),
    { mimeType: "text/plain" },
    ({ href }, { city }) => ({ contents: [{ uri: href, text: `The guide of ${String(city)}.` }] }),
  );
  return server;
});
