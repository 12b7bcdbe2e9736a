import type { Send } from "./reply.ts";

/** Sends requests with the `fetch` of the platform. On Node the import map of the package has another module instead. */
export const defaultSend: Send = (url, init) =>
  // The `fetch` of browsers throws if it is called as a method of an object other than the global one.
  fetch(url, init);

export const createController = (): AbortController => new AbortController();
