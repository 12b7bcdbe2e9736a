// @ts-check
import { writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../../scripts/ready.mjs";
import { drawChat } from "./draw-chat.mjs";

/** Writes `docs/cli/chat.svg`, the picture of the README: a chat with the example of this repository. The output is real. */
writeFileSync(path.join(root, "docs/cli/chat.svg"), await drawChat());
