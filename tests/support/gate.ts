import type { Context } from "../../packages/mcparley/src/server/core/context.ts";

/** A handler that waits inside its call until a test opens the gate. */
export interface Gate {
  /** Settles with the handler's context once it is called. */
  readonly entered: Promise<Context>;
  /** Lets the handler return a value, or throw an error. */
  open(this: void, value: unknown): void;
  /** The handler, to be given to `tool` and the like. */
  call(this: void, input: unknown, ctx: Context): any;
}

export function gate(): Gate {
  let enter!: (ctx: Context) => void;
  let open!: (value: unknown) => void;
  const entered = new Promise<Context>((resolve) => {
    enter = resolve;
  });
  const opened = new Promise<unknown>((resolve) => {
    open = resolve;
  });
  const call = async (_: unknown, ctx: Context): Promise<unknown> => {
    enter(ctx);
    const value = await opened;
    if (value instanceof Error) throw value;
    return value;
  };
  // Only the handler is a member of its own, because `tool` refuses others.
  return Object.assign(Object.create({ entered, open }) as Pick<Gate, "entered" | "open">, { call });
}
