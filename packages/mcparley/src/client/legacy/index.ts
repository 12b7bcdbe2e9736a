/*
 * The code for legacy servers, and for servers whose revision is not known. It is loaded as a whole: a client of a modern
 * server over HTTP needs none of it.
 */
export { replaceIfChanged, requireSession } from "./check-revision.ts";
export { fallBack, negotiateOtherwise } from "./fall-back.ts";
export { startPings } from "./pings.ts";
export { visitUrls, visitsOf } from "./url-visits.ts";
