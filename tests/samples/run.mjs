// @ts-check
import { Checks } from "../../scripts/artifact/checks.mjs";
import { withEachNode } from "../support/packed.mjs";
import { followPages } from "./follow-pages.mjs";

const help = `npm run check -- samples [options]

Follows the READMEs and the guides: runs their shell samples in their order, each page in an empty folder. The packages of this repository are installed
from their tarballs, and others from the registry of npm. Models and servers on the web are scripted. tests/samples/not-run.mjs lists the commands
that are not run.

  --only PAGE      one page, such as docs/start/first-server.md; may be given more than once
  --node VERSION   the version of Node, such as 22.23.3; may be given more than once (the Node that runs this program)
`;

await withEachNode(help, async ({ folder, label, env, packed, only }) => {
  const checks = new Checks();
  await followPages({ folder, env, packed, checks, only });
  process.stdout.write(`samples: ${checks.passed} checks passed with ${label}\n`);
});
