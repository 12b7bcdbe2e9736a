/** One event of an event stream, as it was written. */
export interface Event {
  id: string | undefined;
  retry: string | undefined;
  data: string | undefined;
}

/** Reads the blocks of an event stream: events or comments, each of which ends with an empty line. */
export interface Blocks {
  /** The next block, without the empty line. Undefined at the end. */
  next(): Promise<string | undefined>;
  /** Cancels the stream. */
  leave(): Promise<void>;
}

export function blocksOf(body: ReadableStream<Uint8Array>): Blocks {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const next = async (): Promise<string | undefined> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end !== -1) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        return block;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += decoder.decode(value, { stream: true });
    }
  };
  return { next, leave: () => reader.cancel() };
}

/** Reads the events of a response body, without comments, until it ends or breaks. Leaving the loop cancels the body. */
export function eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  return eventsIn(blocksOf(body));
}

export async function* eventsIn(blocks: Blocks): AsyncGenerator<Event> {
  try {
    for (;;) {
      const block = await blocks.next().catch(() => undefined);
      if (block === undefined) return;
      const lines = block.split("\n").filter((line) => !line.startsWith(":"));
      if (lines.length > 0) yield parseEvent(lines);
    }
  } finally {
    void blocks.leave().catch(() => {});
  }
}

export function parseEvent(lines: readonly string[]): Event {
  const field = (name: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${name}:`) ? [line.slice(name.length + 1).replace(/^ /, "")] : []));
  const data = field("data");
  return { id: field("id")[0], retry: field("retry")[0], data: data.length > 0 ? data.join("\n") : undefined };
}
