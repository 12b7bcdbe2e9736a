import { acceptedContent, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { createRequestStateCodec } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { randomBytes } from "node:crypto";
import { z } from "zod";

const guestsSchema = z.object({ guests: z.number().int().min(1).max(12) });
const outsideSchema = z.object({ outside: z.boolean() });
const state = createRequestStateCodec<{ guests: number }>({ key: randomBytes(32) });

serveStdio(() => {
  const info = { name: "restaurant", version: "1.0.0" };
  const server = new McpServer(info, { requestState: { verify: state.verify } });
  server.registerTool(
    "book",
    { description: "Books a table.", inputSchema: z.object({ date: z.iso.date() }) },
    async ({ date }, ctx) => {
      const answers = ctx.mcpReq.inputResponses;
      const earlier = ctx.mcpReq.requestState<{ guests: number }>();
      const guests = earlier?.guests ?? acceptedContent(answers, "guests", guestsSchema)?.guests;
      if (guests === undefined) {
        const message = `How many guests on ${date}?`;
        const question = inputRequired.elicit({ message, requestedSchema: guestsSchema });
        return inputRequired({ inputRequests: { guests: question } });
      }
      const outside = acceptedContent(answers, "outside", outsideSchema)?.outside;
      if (outside === undefined) {
        const message = `Should the ${guests} guests sit outside?`;
        const question = inputRequired.elicit({ message, requestedSchema: outsideSchema });
        const requestState = await state.mint({ guests }, ctx);
        return inputRequired({ inputRequests: { outside: question }, requestState });
      }
      const text = `Booked ${guests} seats ${outside ? "outside" : "inside"} on ${date}.`;
      return { content: [{ type: "text", text }] };
    },
  );
  return server;
});
