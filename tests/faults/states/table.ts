import { describe, test } from "vitest";

/** The behaviour of a state machine for one event in one state. */
export interface Cell {
  /** The state that follows. */
  next: string;
  /** The visible effect, in a few words: a request that is sent, an error, a report. Empty if nothing happens. */
  does: string;
  /** Asserts `next` and `does` on the public API or on the smallest unit that has the machine. */
  test: () => void | Promise<void>;
}

/** A state machine of the client as a table. It is published in `docs/internals/client-states.md`. */
export interface StateTable<State extends string = string, Event extends string = string> {
  /** The name in headings, such as "Subscription". */
  machine: string;
  /** The file that implements the machine, relative to the library's source. */
  file: string;
  /** Each state with its meaning in one sentence. */
  states: Record<State, string>;
  /** Each event with its meaning in one sentence. */
  events: Record<Event, string>;
  /** One cell for each event in each state, or the reason why the event cannot occur in that state. */
  cells: Record<State, Record<Event, Cell | string>>;
}

/** Runs the test of each cell. */
export function testStates({ machine, cells }: StateTable): void {
  describe(`state machine: ${machine}`, () => {
    for (const [state, events] of Object.entries(cells)) {
      for (const [event, cell] of Object.entries(events)) {
        if (typeof cell === "string") continue;
        test(`${state}, ${event}: ${[cell.does, `next is ${cell.next}`].filter(Boolean).join("; ")}`, () =>
          cell.test());
      }
    }
  });
}

/** Returns the Markdown of a table: its states, its events, and one row for each event. */
export function renderStates({ machine, file, states, events, cells }: StateTable): string {
  const names = Object.keys(states);
  const shown = (cell: Cell | string): string => {
    if (typeof cell === "string") return `(${cell})`;
    return cell.does === "" ? `→ ${cell.next}` : `${cell.does} → ${cell.next}`;
  };
  const list = (entries: Record<string, string>): string =>
    Object.entries(entries)
      .map(([name, meaning]) => `- **${name}**: ${meaning}`)
      .join("\n");
  const rows = Object.keys(events).map((event) => {
    const row = names.map((state) => shown(cells[state]?.[event] ?? ""));
    return `| ${event} | ${row.join(" | ")} |`;
  });
  return [
    `## ${machine}`,
    `Implemented in \`${file}\`.`,
    `States:\n\n${list(states)}`,
    `Events:\n\n${list(events)}`,
    [`| event | ${names.join(" | ")} |`, `| --- |${" --- |".repeat(names.length)}`, ...rows].join("\n"),
  ].join("\n\n");
}
