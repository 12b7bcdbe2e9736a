/*
 * The steps that few calls need, in one module that is loaded with the first such call: a client over HTTP must not
 * exceed 20 KB at start (`npm run size`).
 */
export { confirm } from "./confirm.ts";
export { extended, extensionHeaders, followStored } from "./extensions.ts";
export { findTool } from "./find-tool.ts";
export { answersTo } from "./input-rounds.ts";
export { mirrorArguments } from "./mirror-arguments.ts";
export { observed } from "./observed.ts";
export { requireJson } from "./require-json.ts";
export { infoWithSafeIcons, listedWithSafeIcons } from "../lists/safe-icons.ts";
export { sizeOfJson } from "../lists/size-of-json.ts";
