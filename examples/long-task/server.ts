import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "mcparley/node";
import { createServer, tool } from "mcparley/server";
import { asTask, tasks } from "mcparley/tasks";
import { z } from "zod";

const convertVideo = tool({
  description: "Converts a video. Takes about half a second for each minute of the video.",
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: z.object({ file: z.string(), minutes: z.number().int().min(1).max(600) }),
  // A client that supports tasks receives a task at once. Any other client waits, and receives the progress.
  extensions: [asTask()],
  call: async ({ file, minutes }, ctx) => {
    for (let minute = 1; minute <= minutes; minute++) {
      await convertMinute(ctx.signal);
      ctx.progress(minute, minutes, `Converted ${minute} of ${minutes} minutes`);
    }
    return `Converted ${file}.`;
  },
});

/** In place of real work. Pass the signal on to whatever takes long, so that a cancelled call stops. */
async function convertMinute(signal: AbortSignal): Promise<void> {
  await sleep(500, undefined, { signal });
}

const server = createServer({
  name: "videos",
  version: "1.0.0",
  tools: { convert_video: convertVideo },
  extensions: [tasks({ pollIntervalMs: 500 })],
});

const running = await listen(server, { port: Number(process.env.PORT ?? 3000), closeTimeout: 15_000 });
console.log(`Listening on ${running.url}`);
process.once("SIGTERM", () => void stop());

async function stop(): Promise<void> {
  await running.close();
  await server.close(); // ends the tasks
}
