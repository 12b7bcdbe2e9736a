import { type Lowering, identity } from "../lowering.ts";

export const lowering: Lowering = identity;
