// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../scripts/ready.mjs";
import { own } from "../implementations/implementations.mjs";
import { commandSample } from "../measure/command-sample.mjs";

/** @import { Contender, Workload } from "../types.ts" */
/** @import { Plan } from "./plan.mjs" */

const section = "Start and size";
const emptyProgram = "node -e 0";
/** The client that the command is compared with. */
const officialClient = "sdk-v2";
const command = path.join(root, "packages/cli/bin/mcparley.cjs");
/** The server of all clients. It supports every revision. */
const server = [process.execPath, path.join(root, "benchmarks/implementations/mcparley/hello.mjs")];

/** Returns the workloads for the command `mcparley`. @param {Plan} plan @returns {Workload[]} */
export function commandWorkloads({ rounds, peers }) {
  /** @type {Pick<Workload, "section" | "measures" | "rounds">} */
  const common = {
    section,
    measures: [{ key: "time", title: "time, ms", better: "lower", digits: 1, ratio: "× first row" }],
    rounds: rounds.own,
  };
  /** @param {string} name @returns {Contender} */
  const official = (name) => ({
    name,
    needsPeers: true,
    sample: async () => commandSample([path.join(peers, "peers", name, "list.mjs"), ...server], "Greets."),
  });
  return [
    {
      ...common,
      id: "start/version",
      title: "`mcparley --version`, beside the start of Node",
      reference: emptyProgram,
      contenders: [
        { name: emptyProgram, sample: async () => commandSample(["-e", "0"], "") },
        { name: own, sample: async () => commandSample([command, "--version"], versionOfCommand()) },
      ],
    },
    {
      ...common,
      id: "start/list",
      title: "`mcparley list` of a server on stdio, beside programs with the official clients that print the same",
      reference: officialClient,
      contenders: [
        official(officialClient),
        { name: own, sample: async () => commandSample([command, "list", "--", ...server], "Greets.") },
        official("sdk-v1"),
      ],
    },
  ];
}

function versionOfCommand() {
  return JSON.parse(readFileSync(path.join(root, "packages/cli/package.json"), "utf8")).version;
}
