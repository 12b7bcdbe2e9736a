// @ts-check
import { listen } from "mcparley/node";
import { createServer, tool } from "mcparley/server";

/* One process of the server that is restarted while clients have subscriptions. On the message "drain" it shuts down as `mcparley serve` does. */

const server = createServer({
  name: "restarting",
  version: "1.0.0",
  tools: {
    change: tool({
      call: () => {
        server.tools.set(`made-${Date.now()}`, tool({ call: () => "" }));
        return "changed";
      },
    }),
  },
});
const listening = await listen(server, { port: 0 });
process.stdout.write(`${listening.url}\n`);
process.on("message", (message) => {
  if (message !== "drain") return;
  void listening.close().then(() => process.exit());
});
