import { lowering as newer } from "../2024-11-05/lowering.ts";
import type { Lowering } from "../lowering.ts";

export const lowering: Lowering = newer;
