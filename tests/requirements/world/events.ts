/** One event of a stream, as it was written. */
export interface Event {
  id: string | undefined;
  retry: string | undefined;
  data: string | undefined;
}

/** Reads the events of a response body, comments left out, until it ends or breaks; whoever stops early leaves it. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop()!;
      for (const block of blocks) {
        const lines = block.split("\n").filter((line) => !line.startsWith(":"));
        if (lines.length > 0) yield parse(lines);
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

function parse(lines: string[]): Event {
  const field = (name: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${name}:`) ? [line.slice(name.length + 1).replace(/^ /, "")] : []));
  const data = field("data");
  return { id: field("id")[0], retry: field("retry")[0], data: data.length > 0 ? data.join("\n") : undefined };
}
