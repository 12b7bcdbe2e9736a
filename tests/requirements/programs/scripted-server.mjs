// A server on stdio without a library. Its arguments: the results of methods as JSON, and what it does when its input ends:
// "exits", "exits on SIGTERM" or "never exits".
import { createInterface } from "node:readline";

const [results, ending] = process.argv.slice(2);
const answers = JSON.parse(results);

if (ending !== "exits") setInterval(() => {}, 1_000);
if (ending === "never exits") process.on("SIGTERM", () => {});
if (ending === "exits on SIGTERM") {
  process.on("SIGTERM", () => process.stderr.write("received SIGTERM\n", () => process.exit()));
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  process.stderr.write(`ERROR: received ${method}\n`);
  if (id === undefined) return;
  const text = JSON.stringify({ pid: process.pid, parent: process.ppid });
  const result = answers[method] ?? { resultType: "complete", content: [{ type: "text", text }] };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
});
