import { FastMCP, UserError } from "fastmcp";
import { z } from "zod";

const guestsSchema = z.object({ guests: z.number().int().min(1).max(12) });

const server = new FastMCP({ name: "restaurant", version: "1.0.0" });
server.addTool({
  name: "book",
  description: "Books a table.",
  parameters: z.object({ date: z.iso.date() }),
  execute: async ({ date }, { elicit }) => {
    const first = await elicit({
      message: `How many guests on ${date}?`,
      requestedSchema: {
        type: "object",
        properties: { guests: { type: "integer", minimum: 1, maximum: 12 } },
        required: ["guests"],
      },
    });
    if (first.action !== "accept") throw new UserError("The user gave no number of guests.");
    const { guests } = guestsSchema.parse(first.content);
    const second = await elicit({
      message: `Should the ${guests} guests sit outside?`,
      requestedSchema: {
        type: "object",
        properties: { outside: { type: "boolean" } },
        required: ["outside"],
      },
    });
    if (second.action !== "accept") throw new UserError("The user did not choose a place.");
    const place = second.content?.outside ? "outside" : "inside";
    return `Booked ${guests} seats ${place} on ${date}.`;
  },
});
await server.start({ transportType: "stdio" });
