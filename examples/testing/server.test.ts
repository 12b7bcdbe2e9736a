import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConnectOptions, ToolError, connect } from "mcparley/client";
import { type Services, createShop } from "./server.ts";

/** A client of a shop in memory, and the orders that the shop has sent. */
async function shop(options: ConnectOptions = {}) {
  const orders: Parameters<Services["sendOrder"]>[0][] = [];
  const server = createShop({
    priceOf: async (article) => (article === "lamp" ? 3_990 : undefined),
    sendOrder: async (order) => `order-${orders.push(order)}`,
  });
  return { client: await connect<typeof server>(server, options), orders };
}

// Clients of sessions and stateless clients call the same tools. Test both kinds of revision.
for (const revision of ["2025-11-25", "2026-07-28"]) {
  test(`orders an article that the user confirms, on ${revision}`, async () => {
    const questions: string[] = [];
    const { client, orders } = await shop({
      revision,
      elicit: ({ message }) => {
        questions.push(message);
        return { action: "accept", content: {} };
      },
    });
    const result = await client.tools.order({ article: "lamp", pieces: 2 });
    assert.deepEqual(result, { number: "order-1", total: "79.80 EUR" });
    assert.deepEqual(questions, ["Order 2 of lamp for 79.80 EUR?"]);
    assert.deepEqual(orders, [{ article: "lamp", pieces: 2 }]);
    await client.close();
  });

  test(`sends no order that the user declines, on ${revision}`, async () => {
    const { client, orders } = await shop({ revision, elicit: () => ({ action: "decline" }) });
    await assert.rejects(client.tools.order({ article: "lamp", pieces: 2 }), ToolError);
    assert.deepEqual(orders, []);
    await client.close();
  });
}

test("names an article that does not exist", async () => {
  const { client } = await shop();
  await assert.rejects(client.tools.order({ article: "sofa", pieces: 1 }), /There is no article "sofa"\./);
  await client.close();
});

test("refuses arguments that do not match the schema", async () => {
  const { client, orders } = await shop();
  await assert.rejects(client.tools.order({ article: "lamp", pieces: 0 }), ToolError);
  assert.deepEqual(orders, []);
  await client.close();
});

test("reports its progress", async () => {
  const { client } = await shop();
  const messages: (string | undefined)[] = [];
  await client.tools.check_stock({}, { onProgress: ({ message }) => messages.push(message) });
  assert.deepEqual(messages, ["Counted shelf A", "Counted shelf B", "Counted shelf C"]);
  await client.close();
});
