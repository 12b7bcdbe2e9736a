/** Serving over HTTP on Node: a server of its own, or inside an existing one. */
export { type ListenOptions, type Listening, listen } from "../node/listen.ts";
export { type NodeHandler, toNodeHandler } from "../node/node-handler.ts";
export { type FileStoreOptions, fileStore } from "../node/file-store.ts";
