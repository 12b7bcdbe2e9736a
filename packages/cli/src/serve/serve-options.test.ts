import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { UsageError } from "../terminal/io.ts";
import { readServeOptions } from "./serve-options.ts";

test("serves HTTP on loopback, port 3333, at /mcp, with a watch by default", () => {
  expect(readServeOptions(["."])).toEqual({
    folder: ".",
    stdio: false,
    host: "127.0.0.1",
    port: 3333,
    path: "/mcp",
    watch: true,
    allowHost: [],
    allowOrigin: [],
    trustProxy: undefined,
    name: undefined,
    store: undefined,
    workers: undefined,
    audit: false,
    legacySse: false,
    help: false,
  });
});

test("watches a folder on stdio only with --watch", () => {
  expect(readServeOptions([".", "--stdio"]).watch).toBe(false);
  expect(readServeOptions([".", "--stdio", "--watch"]).watch).toBe(true);
  expect(readServeOptions([".", "--no-watch"]).watch).toBe(false);
});

test("reads every option, in any order", () => {
  const words =
    "-p 0 --host 0.0.0.0 dir --path /x --allow-host a --allow-host=b --allow-origin https://c --trust-proxy forwarded --name n --store redis://r --audit";
  expect(readServeOptions(words.split(" "))).toMatchObject({
    folder: "dir",
    port: 0,
    host: "0.0.0.0",
    path: "/x",
    allowHost: ["a", "b"],
    allowOrigin: ["https://c"],
    trustProxy: "forwarded",
    name: "n",
    store: "redis://r",
    audit: true,
  });
});

const cores = availableParallelism();
const workersCure = `Give a number from 1 to ${4 * cores}, or auto for one worker on each core.`;

test("reads a number of workers up to four for each core, and auto as the number of cores", () => {
  expect(readServeOptions([".", "--workers", "1"]).workers).toBe(1);
  expect(readServeOptions([".", "--workers", `${4 * cores}`]).workers).toBe(4 * cores);
  expect(readServeOptions([".", "--workers", "auto"]).workers).toBe(cores);
});

test.each([
  [[], "Which folder? DIR is missing."],
  [["a", "b"], "One folder can be served, and 2 were named."],
  [[".", "--prot", "1"], "There is no option --prot.", "Did you mean --port?"],
  [[".", "--port", "x"], '"x" is not a port.'],
  [[".", "--port", "65536"], '"65536" is not a port.'],
  [[".", "--port", "-1"], '"-1" is not a port.'],
  [[".", "--port"], "--port needs a value: --port PORT"],
  [[".", "--port", "--stdio"], "--port needs a value: --port PORT"],
  [[".", "--stdio=1"], '--stdio takes no value; "1" was given.'],
  [[".", "--host", ""], "The value of --host is empty."],
  [[".", "--trust-proxy", ""], "The value of --trust-proxy is empty."],
  [[".", "--path", "mcp"], '"mcp" is not a path for the endpoint.'],
  [[".", "--stdio", "--port", "1"], "--port does not apply with --stdio."],
  [[".", "--stdio", "--trust-proxy", "forwarded"], "--trust-proxy does not apply with --stdio."],
  [[".", "--stdio", "--store", "redis://r"], "--store does not apply with --stdio."],
  [[".", "--stdio", "--workers", "2"], "--workers does not apply with --stdio."],
  [[".", "--workers", "0"], '"0" is not a number of workers.', workersCure],
  [[".", "--workers=-1"], '"-1" is not a number of workers.', workersCure],
  [[".", "--workers", "1.5"], '"1.5" is not a number of workers.', workersCure],
  [[".", "--workers", "abc"], '"abc" is not a number of workers.', workersCure],
  [[".", "--workers", ""], '"" is not a number of workers.', workersCure],
  [[".", "--workers", `${4 * cores + 1}`], `--workers ${4 * cores + 1} is more than 4 for each of the ${cores} cores`],
  [[".", "--watch", "--no-watch"], "--watch and --no-watch exclude each other."],
])("%j is refused", (argv: string[], message: string, hint?: string) => {
  const error = (() => {
    try {
      return readServeOptions(argv);
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toBeInstanceOf(UsageError);
  expect((error as UsageError).message).toContain(message);
  if (hint !== undefined) expect((error as UsageError).hint).toBe(hint);
});

test("serves the folder after --, also if its name begins with a hyphen", () => {
  expect(readServeOptions(["--", "-dir"]).folder).toBe("-dir");
});

test("needs no folder with --help", () => {
  expect(readServeOptions(["--help"]).help).toBe(true);
});
