/** A `fetch` that serves documents by URL and records the requested URLs. */
export interface DocumentServer {
  fetch: (url: string) => Promise<Response>;
  /** The URLs in the order in which they were asked for. */
  readonly asked: string[];
}

/** Serves each value as JSON, a `Response` unchanged, and 404 for other URLs. */
export function documentServer(documents: Record<string, unknown>): DocumentServer {
  const asked: string[] = [];
  return {
    asked,
    fetch(url) {
      asked.push(url);
      const document = documents[url];
      if (document instanceof Response) return Promise.resolve(document.clone());
      return Promise.resolve(document === undefined ? new Response(null, { status: 404 }) : Response.json(document));
    },
  };
}
