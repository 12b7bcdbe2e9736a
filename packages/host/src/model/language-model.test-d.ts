import type { LanguageModelV3 } from "@ai-sdk/provider";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { expectTypeOf } from "vitest";
import type { LanguageModel, ModelSetting } from "./language-model.ts";

expectTypeOf<LanguageModelV3>().toExtend<LanguageModel>();
expectTypeOf<[LanguageModelV3, LanguageModelV3]>().toExtend<ModelSetting>();
expectTypeOf<[]>().not.toExtend<ModelSetting>();

const provider = createOpenAICompatible({ name: "local", baseURL: "http://127.0.0.1/v1" });
expectTypeOf(provider("any")).toExtend<LanguageModel>();

// A model of version 3 does not accept the files of version 4. `npm run check -- host-providers` compares the types of version 4.
type Renamed = Omit<LanguageModelV3, "specificationVersion"> & { readonly specificationVersion: "v4" };
expectTypeOf<Renamed>().not.toExtend<LanguageModel>();
