// @ts-check
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import initSqlJs from "sql.js";

/** Runs one query in a thread of its own, so that a slow query neither blocks the server nor outlives its call. */
const { file, sql, maxRows } = /** @type {import("./server.ts").Query} */ (workerData);

// sql.js works on a copy in memory, so that no query can change the file.
const { Database } = await initSqlJs();
const database = new Database(readFileSync(file));
database.run("PRAGMA query_only = ON");
const statement = database.prepare(sql);
const rows = [];
while (rows.length <= maxRows && statement.step()) rows.push(statement.getAsObject());
parentPort?.postMessage(rows);
