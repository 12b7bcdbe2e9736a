import { HttpRefusal, toFetch } from "mcparley/http";
import { createServer } from "mcparley/server";

export const handler = toFetch(createServer({ name: "x", version: "1" }));
export const { fetch } = handler;
export const refusal = (...given: ConstructorParameters<typeof HttpRefusal>) => new HttpRefusal(...given);
