import { beforeAll, vi } from "vitest";

// The modules that the library loads on first use; see `vitest.config.ts`.
beforeAll(() => vi.dynamicImportSettled());
