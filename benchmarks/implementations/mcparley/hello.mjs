// @ts-check
import { createServer, tool } from "mcparley/server";
import { serveStdio } from "mcparley/stdio";

const hello = tool({ description: "Greets.", call: () => "Hello" });
await serveStdio(createServer({ name: "hello", version: "1.0.0", tools: { hello } }));
