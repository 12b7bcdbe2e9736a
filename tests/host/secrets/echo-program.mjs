// @ts-check
import { createInterface } from "node:readline";
import { echoServer, everyForm } from "./echo.mjs";

/*
 * A server on stdio that sends its arguments and the variables that start with CANARY in each text. If the variable DIES is set,
 * it writes them to stderr and exits when it is initialized.
 */
const secrets = [
  ...process.argv
    .slice(2)
    .map((arg) => arg.replace(/^--[a-z-]+=/, ""))
    .filter((arg) => !arg.startsWith("--")),
  ...Object.entries(process.env).flatMap(([name, value = ""]) => (name.startsWith("CANARY") ? [value] : [])),
];
let asked = 0;
/** @type {Map<unknown, (message: object) => void>} */
const waiting = new Map();
const send = (/** @type {object} */ message) =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const answer = echoServer(() => secrets, {
  send,
  ask(method, params) {
    const id = `asked-${++asked}`;
    send({ id, method, params });
    return new Promise((resolve) => waiting.set(id, resolve));
  },
});

process.stderr.write(`${everyForm(secrets)}\n`);
createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (process.env["DIES"]) process.stderr.write(`${everyForm(secrets)}\n`, () => process.exit(7));
  else if (message.method === undefined) waiting.get(message.id)?.(message);
  else void answer(message);
});
