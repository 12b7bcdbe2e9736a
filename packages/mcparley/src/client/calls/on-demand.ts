/*
 * The steps that few calls need, in one module that is loaded with the first such call: a client over HTTP must not
 * exceed 20 KB at start (`npm run size`).
 */
export { extend, finishExtensions, followStored } from "./extensions.ts";
export { answersTo } from "./input-rounds.ts";
export { mirroredHeaders } from "./mirrored-headers.ts";
export { confirm, notCapable, observe, requireJson, takeTurn } from "./optional-steps.ts";
export { infoWithSafeIcons, listedWithSafeIcons } from "../lists/safe-icons.ts";
