import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { ToolError, createServer, tool } from "mcparley/server";
import { serveStdio } from "mcparley/stdio";
import { z } from "zod";

/** The data of a worker. */
export interface Query {
  file: string;
  sql: string;
  maxRows: number;
}

const file = process.argv[2] ?? fileURLToPath(new URL("library.sqlite", import.meta.url));
const timeout = Number(process.env.QUERY_TIMEOUT ?? 5_000);
const maxRows = 100;

const schema = tool({
  description: "Returns the SQL that created the tables of the database. Call it before you write a query.",
  annotations: { readOnlyHint: true, openWorldHint: false },
  call: async (_input, ctx) => {
    const rows = await run("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name", ctx.signal);
    return rows.map(({ sql }) => `${String(sql)};`).join("\n");
  },
});

const query = tool({
  description: `Runs one SELECT of SQLite and returns its rows as JSON, at most ${maxRows}. The database is read-only.`,
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({ sql: z.string().max(10_000) }),
  call: async ({ sql }, ctx) => {
    const rows = await run(sql, ctx.signal);
    if (rows.length <= maxRows) return JSON.stringify(rows);
    return `${JSON.stringify(rows.slice(0, maxRows))}\nThere are more rows. Add a LIMIT or a condition.`;
  },
});

/** Runs a query in a worker. Stops it when the call is cancelled or the query takes too long. */
async function run(sql: string, signal: AbortSignal): Promise<Record<string, unknown>[]> {
  const workerData: Query = { file, sql, maxRows };
  const worker = new Worker(new URL("query-worker.mjs", import.meta.url), { workerData });
  const limit = AbortSignal.timeout(timeout);
  try {
    const [rows] = await once(worker, "message", { signal: AbortSignal.any([signal, limit]) });
    return rows;
  } catch (error) {
    if (limit.aborted) throw new ToolError(`The query took longer than ${timeout} ms.`);
    if (signal.aborted) throw error;
    // The message of SQLite, such as "no such column: titel", tells the model what to correct.
    throw new ToolError(error instanceof Error ? error.message : String(error));
  } finally {
    await worker.terminate();
  }
}

const server = createServer({ name: "library", version: "1.0.0", tools: { schema, query } });

await serveStdio(server);
