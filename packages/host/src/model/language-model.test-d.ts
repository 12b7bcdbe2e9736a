import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { LanguageModelV4 } from "@ai-sdk/provider-v4";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { expectTypeOf } from "vitest";
import type { LanguageModel, ModelSetting } from "./language-model.ts";

expectTypeOf<LanguageModelV3>().toExtend<LanguageModel>();
expectTypeOf<LanguageModelV4>().toExtend<LanguageModel>();
expectTypeOf<LanguageModelV3 | LanguageModelV4>().toExtend<LanguageModel>();
expectTypeOf<[LanguageModelV4, LanguageModelV3]>().toExtend<ModelSetting>();
expectTypeOf<[]>().not.toExtend<ModelSetting>();

const provider = createOpenAICompatible({ name: "local", baseURL: "http://127.0.0.1/v1" });
expectTypeOf(provider("any")).toExtend<LanguageModel>();

// A model of version 3 does not accept the files of version 4, and the reverse.
type Renamed<Model, Version> = Omit<Model, "specificationVersion"> & { readonly specificationVersion: Version };
expectTypeOf<Renamed<LanguageModelV3, "v4">>().not.toExtend<LanguageModel>();
expectTypeOf<Renamed<LanguageModelV4, "v3">>().not.toExtend<LanguageModel>();
