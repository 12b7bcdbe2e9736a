// @ts-check
import { answer } from "./answer.mjs";

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const text = String(chunk);
  let start = 0;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
    take(rest + text.slice(start, end));
    rest = "";
    start = end + 1;
  }
  rest += text.slice(start);
});

/** @param {string} line */
function take(line) {
  const message = JSON.parse(line);
  if (message.id !== undefined) process.stdout.write(`${JSON.stringify(answer(message))}\n`);
}
