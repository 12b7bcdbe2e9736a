/** Sends requests with the `fetch` of the platform. On Node the import map of the package has another module instead. */
export function defaultFetch(url: URL, init: RequestInit): Promise<Response> {
  // The `fetch` of browsers throws if it is called as a method of an object other than the global one.
  return fetch(url, init);
}
