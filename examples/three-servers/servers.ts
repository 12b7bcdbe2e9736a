import { fileURLToPath } from "node:url";
import type { ConnectTarget } from "mcparley/client";
import { listen } from "mcparley/node";
import { createServer, tool } from "mcparley/server";
import { z } from "zod";

const timeIn = tool({
  description: "Returns a time in a time zone.",
  annotations: { readOnlyHint: true },
  input: z.object({ zone: z.string(), at: z.iso.datetime() }),
  call: ({ zone, at }) => new Intl.DateTimeFormat("en-GB", { timeZone: zone, timeStyle: "short" }).format(new Date(at)),
});

// Stands for a server elsewhere, so that this example needs no network.
const clock = await listen(createServer({ name: "clock", version: "1.0.0", tools: { time_in: timeIn } }), { port: 0 });

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** The servers by the names that prefix their tools. */
export const servers: Record<string, ConnectTarget> = {
  clock: { url: process.env.CLOCK_URL ?? clock.url },
  library: { command: "tsx", args: [pathOf("../database/server.ts")] },
  handbook: { command: "mcparley", args: ["serve", pathOf("../handbook"), "--stdio"] },
};

export const closeLocalServer = (): Promise<void> => clock.close();
