/*
 * The parts of connecting that a modern server over HTTP does not need, in one module that is loaded with their first use:
 * a client over HTTP must not exceed 20 KB at start (`npm run size`).
 */
export { replaceIfChanged } from "./check-revision.ts";
export { fallBack, negotiateOtherwise } from "./fall-back.ts";
export { answerRequest } from "../input/server-requests.ts";
export { legacyEncoderOf } from "../../mcp/revisions/index.ts";
export { visitsOf } from "../input/url-visits.ts";
