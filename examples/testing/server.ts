import { ToolError, createServer, tool } from "mcparley/server";
import { z } from "zod";

/** What the tools need from outside. Tests pass their own. */
export interface Services {
  /** Returns the price of an article in cents. Undefined if the article does not exist. */
  priceOf: (article: string) => Promise<number | undefined>;
  sendOrder: (order: { article: string; pieces: number }) => Promise<string>;
}

const euros = (cents: number): string => `${(cents / 100).toFixed(2)} EUR`;

export function createShop({ priceOf, sendOrder }: Services) {
  const order = tool({
    description: "Orders an article, after the user has confirmed the price.",
    annotations: { readOnlyHint: false, destructiveHint: false },
    input: z.object({ article: z.string(), pieces: z.number().int().min(1).max(100) }),
    output: z.object({ number: z.string(), total: z.string() }),
    call: async ({ article, pieces }, ctx) => {
      const price = await priceOf(article);
      if (price === undefined) throw new ToolError(`There is no article "${article}".`);
      const total = euros(price * pieces);
      await ctx.elicit({ message: `Order ${pieces} of ${article} for ${total}?`, schema: z.object({}) });
      const number = await ctx.once("order", () => sendOrder({ article, pieces }));
      return { number, total };
    },
  });

  const checkStock = tool({
    description: "Counts the pieces of all articles.",
    annotations: { readOnlyHint: true },
    call: async (_input, ctx) => {
      for (const [index, shelf] of ["A", "B", "C"].entries()) ctx.progress(index + 1, 3, `Counted shelf ${shelf}`);
      return "312 pieces";
    },
  });

  return createServer({ name: "shop", version: "1.0.0", tools: { order, check_stock: checkStock } });
}
