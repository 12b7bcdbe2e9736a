import { expect } from "vitest";
import { Cancelled, type ConnectOptions, Declined, tool } from "../library.ts";

/** The capabilities of a client that shows forms, and of one that sends its user to URLs as well. */
export const forms = { elicitation: { form: {} } };
export const formsAndUrls = { elicitation: { form: {}, url: {} } };

export const elicitMethod = "elicitation/create";
export const person = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
export const form = { message: "Who are you?", requestedSchema: person };
export const visit = { mode: "url", message: "Pay.", url: "https://example.com/pay?a=1", elicitationId: "visit-1" };

/** A tool that sends the user to a URL, and returns the outcome. */
export const visiting = tool({
  call: (_, ctx) =>
    outcomeOf(async () => {
      await ctx.elicit({ message: visit.message, url: visit.url });
      return "went there";
    }),
});

/** A tool that elicits a name, and returns the outcome. */
export const telling = tool({
  call: (_, ctx) => outcomeOf(async () => JSON.stringify(await ctx.elicit({ message: form.message, schema: person }))),
});

async function outcomeOf(asking: () => Promise<string>): Promise<string> {
  try {
    return await asking();
  } catch (error) {
    if (error instanceof Declined) return "declined";
    if (error instanceof Cancelled) return "cancelled";
    throw error;
  }
}

/** Options of a client that must never ask its user. */
export const never: ConnectOptions = { elicit: () => expect.fail("The user was asked.") };
