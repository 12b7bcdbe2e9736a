import { createServer, tool } from "mcparley/server";
import { z } from "zod";

const timeIn = tool({
  description: "Returns a time in a time zone.",
  annotations: { readOnlyHint: true },
  input: z.object({ zone: z.string(), at: z.iso.datetime() }),
  call: ({ zone, at }) => new Intl.DateTimeFormat("en-GB", { timeZone: zone, timeStyle: "short" }).format(new Date(at)),
});

/** A server in the process of the host. */
export const clock = createServer({ name: "clock", version: "1.0.0", tools: { time_in: timeIn } });
