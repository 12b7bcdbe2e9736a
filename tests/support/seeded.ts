import { fuzzing, setSeed } from "./random-values.ts";

// Each test file starts with the same seed.
setSeed(fuzzing.seed);
