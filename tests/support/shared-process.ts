import { beforeAll } from "vitest";
import { forgetRevisions } from "../../packages/mcparley/src/client/connect/remembered-revisions.ts";

// The tests of another file may have connected to the same URL in this process.
beforeAll(forgetRevisions);
