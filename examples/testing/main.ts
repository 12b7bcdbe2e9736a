import { randomUUID } from "node:crypto";
import { serveStdio } from "mcparley/stdio";
import { createShop } from "./server.ts";

const prices = new Map([
  ["lamp", 3_990],
  ["chair", 12_900],
]);

await serveStdio(
  createShop({
    priceOf: async (article) => prices.get(article),
    sendOrder: async () => randomUUID(),
  }),
);
