import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Message, createHost } from "@mcparley/host";
import { printable } from "mcparley";
import { clock } from "./clock.ts";
import { costText } from "./cost.ts";
import { model } from "./model.ts";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Asks a question on the terminal. Returns an empty text when the input has ended. */
async function ask(question: string): Promise<string> {
  process.stdout.write(question);
  const { value } = await lines.next();
  return value?.trim() ?? "";
}

const handbook = fileURLToPath(new URL("../handbook", import.meta.url));
const host = await createHost({
  servers: { handbook: { command: "mcparley", args: ["serve", handbook, "--stdio"] }, clock },
  folder: false, // asks again after each start
  ...(model && { model }),
  // Without a model nothing is called, so the tools are listed without a review.
  policy: { trust: "configured", review: model ? "always" : "changes" },
  renderer: {
    async review({ server, changes }) {
      for (const { kind, name, status, remarks } of changes)
        console.log(printable([status, kind, name, ...remarks].join(" ")));
      const isAccepted = (await ask(printable(`Use these definitions of ${server}? [y/N] `))) === "y";
      return { accepted: isAccepted ? "all" : [] };
    },
    async approve({ server, tool, shown }) {
      const answer = await ask(printable(`Call ${tool.name} of ${server} with ${shown}? [y/N/always] `));
      if (answer === "always") return { action: "allow", remember: "session" };
      return { action: answer === "y" ? "allow" : "deny" };
    },
  },
});

// The default is 5 seconds. Each server connects or fails within two minutes, also on a slow machine.
const { tools } = await host.ready({ wait: Infinity });
for (const { name, tool } of tools) console.log(printable(`${name}: ${tool.description ?? ""}`));
if (!model)
  console.log("Set BASE_URL and MODEL to chat, for example BASE_URL=http://127.0.0.1:11434/v1 MODEL=qwen3 for Ollama.");

let messages: readonly Message[] = [];
for (let text = model ? await ask("> ") : ""; text !== ""; text = await ask("\n> ")) {
  const run = host.run({ messages: [...messages, { role: "user", content: text }] });
  for await (const event of run) {
    if (event.type === "text") process.stdout.write(printable(event.text));
    if (event.type === "call") console.log(printable(`[${event.name}]`));
  }
  const end = await run.finished;
  if (end.error) console.error(printable(end.error.message));
  console.log(printable(`\n[${costText(end.usage)}]`));
  messages = end.messages;
}
await host.close();
