import { FastMCP } from "fastmcp";

const cities = ["Bergen", "Berlin", "Oslo"];
const complete = async (typed: string) => ({
  values: cities.filter((city) => city.startsWith(typed)),
});

const server = new FastMCP({ name: "travel", version: "1.0.0" });
server.addPrompt({
  name: "packing",
  description: "Plans what to pack for a trip.",
  arguments: [{ name: "city", required: true, complete }],
  load: async ({ city }) => `What should I pack for a weekend in ${city}?`,
});
server.addResourceTemplate({
  uriTemplate: "guide://{city}",
  name: "guide",
  mimeType: "text/plain",
  arguments: [{ name: "city", required: true, complete }],
  load: async ({ city }) => ({ text: `The guide of ${city}.` }),
});
await server.start({ transportType: "stdio" });
