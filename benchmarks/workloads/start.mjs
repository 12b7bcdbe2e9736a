// @ts-check
import path from "node:path";
import { floor, own } from "../implementations/implementations.mjs";
import { bundleSample, installSample } from "../measure/size-sample.mjs";
import { importSample, startSample, zodSample } from "../measure/start-sample.mjs";
import { roundsOf } from "./plan.mjs";

/** @import { Implementation, Measure, Sample, Workload } from "../types.ts" */
/** @import { Plan, Rounds } from "./plan.mjs" */

const section = "Start and size";
const zodTools = path.join(import.meta.dirname, "../implementations/mcparley/zod-tools.mjs");

/** Returns the workloads for the start, the memory and the size of a minimal server. @param {Plan} plan @returns {Workload[]} */
export function startWorkloads(plan) {
  const once = { own: 1, others: 1 };
  return [
    workload("start/stdio", "from the start of a process to the first answer on stdio, and what it holds then", {
      measures: [
        { key: "start", title: "start, ms", better: "lower", digits: 1, ratio: "× floor" },
        { key: "rss", title: "RSS, MB", better: "lower", digits: 1 },
        { key: "heap", title: "heap, MB", better: "lower", digits: 2 },
      ],
      rounds: plan.rounds,
      sample: (one) => startSample(one, plan.peers),
    }),
    workload("start/import", "import of what a server on stdio needs", {
      measures: [
        { key: "import", title: "import, ms", better: "lower", digits: 1 },
        { key: "cpu", title: "CPU, ms", better: "lower", digits: 1 },
      ],
      rounds: plan.rounds,
      sample: async (one) => importSample(one, plan.peers),
    }),
    {
      id: "start/zod",
      section,
      title: "what 50 tools with schemas of zod add, until the first answer on stdio",
      measures: [
        { key: "added", title: "added CPU without the construction of the schemas, ms", better: "lower", digits: 1 },
        { key: "total", title: "added CPU, ms", better: "lower", digits: 1 },
      ],
      rounds: plan.rounds.own,
      contenders: [{ name: own, sample: () => zodSample(zodTools) }],
    },
    workload("size/install", "installed for a server on stdio", {
      measures: [
        { key: "installed", title: "KB", better: "lower", digits: 0 },
        { key: "packages", title: "packages", better: "lower", digits: 0 },
      ],
      rounds: once,
      sample: async (one) => installSample(one, plan.peers),
    }),
    workload("size/bundle", "the least server on stdio, bundled with esbuild, with all that is loaded later", {
      measures: [
        { key: "gzip", title: "gzip, KB", better: "lower", digits: 1 },
        { key: "minified", title: "minified, KB", better: "lower", digits: 1 },
      ],
      rounds: once,
      sample: (one) => bundleSample(one, plan.peers),
    }),
  ];

  /**
   * @param {string} id @param {string} title
   * @param {{ measures: readonly Measure[], rounds: Rounds, sample: (one: Implementation) => Promise<Sample> }} what
   * @returns {Workload}
   */
  function workload(id, title, { measures, rounds, sample }) {
    const contenders = plan.implementations.map((one) => {
      const { name, packages } = one;
      if (!packages && id !== "start/stdio") return { name, notRun: "It has nothing to install or import." };
      return { name, sample: () => sample(one), rounds: roundsOf(name, rounds) };
    });
    return { id, section, title, reference: floor, measures, rounds: rounds.own, contenders };
  }
}
