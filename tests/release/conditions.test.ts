import { expect, test } from "vitest";
import { type ReleaseState, reasonsAgainst } from "../../scripts/release/conditions.mjs";

const address = "https://github.com/someone/mcparley";
const library = {
  name: "mcparley",
  version: "0.1.0",
  changelog: "# mcparley\n\n## 0.1.0\n",
};
const ready: ReleaseState = {
  address,
  packages: [library],
  changedFiles: [],
  changesets: [],
  published: [],
  env: {
    ACTIONS_ID_TOKEN_REQUEST_URL: "https://token",
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "t",
    GITHUB_REF: "refs/tags/v0.1.0",
  },
};

test("nothing is against a release that meets every condition", () => {
  expect(reasonsAgainst(ready)).toEqual([]);
});

test.each<[string, Partial<ReleaseState>, string]>([
  [
    "a repository without an address",
    { address: undefined },
    "Set it with npm pkg set repository=URL, and commit package.json.",
  ],
  ["files that are not committed", { changedFiles: ["README.md"] }, "Files are not committed: README.md."],
  ["changesets without a version", { changesets: ["a.md"] }, "No version contains the changesets a.md."],
  [
    "a changelog without the version",
    { packages: [{ ...library, changelog: "## 0.0.9\n" }] },
    "The changelog of mcparley has no entry for 0.1.0.",
  ],
  ["a published version", { published: ["mcparley@0.1.0"] }, "The registry already has mcparley@0.1.0."],
  [
    "a workflow without tokens for provenance",
    { env: { GITHUB_REF: "refs/tags/v0.1.0" } },
    "Provenance is unavailable",
  ],
  [
    "a workflow of a branch",
    { env: { ...ready.env, GITHUB_REF: "refs/heads/main" } },
    "The workflow runs for refs/heads/main and not for refs/tags/v0.1.0.",
  ],
])("refuses %s", (_, difference, reason) => {
  const reasons = reasonsAgainst({ ...ready, ...difference });
  expect(reasons).toEqual([expect.stringContaining(reason)]);
});

test("refuses packages of different versions", () => {
  const other = { ...library, name: "other", version: "0.2.0", changelog: "## 0.2.0\n" };
  expect(reasonsAgainst({ ...ready, packages: [library, other] })).toEqual(["The packages have different versions."]);
});
