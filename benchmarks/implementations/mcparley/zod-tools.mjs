// @ts-check
import { createServer, tool } from "mcparley/server";
import { serveStdio } from "mcparley/stdio";
import { z } from "zod";

/** A server on stdio with the number of tools in its first argument. At its first answer it writes its CPU time in microseconds to stderr. */
const count = Number(process.argv[2]);
/** Whether the tools have their schemas. Without, the schemas are made and not used. */
const isUsed = process.argv[3] === "used";

const schemas = Array.from({ length: count }, () =>
  z.object({
    query: z.string().min(1).max(200).describe("The text to search for"),
    limit: z.number().int().min(1).max(100).default(10),
    sort: z.enum(["name", "date", "size"]).optional(),
    tags: z.array(z.string()).optional(),
    filter: z.object({ from: z.string(), to: z.string() }).optional(),
  }),
);
const tools = schemas.map((input, index) => {
  const description = `Searches index ${index}.`;
  const definition = isUsed ? tool({ description, input, call: () => "ok" }) : tool({ description, call: () => "ok" });
  return [`search_${index}`, definition];
});

const server = createServer({ name: "search", version: "1.0.0", tools: Object.fromEntries(tools) });
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (/** @type {unknown[]} */ ...args) => {
  const { user, system } = process.cpuUsage();
  process.stderr.write(`${user + system}\n`);
  return Reflect.apply(write, process.stdout, args);
};
await serveStdio(server);
