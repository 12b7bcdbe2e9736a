import { serveStdio } from "mcparley/stdio";
import { workshop } from "./workshop.ts";

await serveStdio(workshop());
