import type { NextConfig } from "next";

const config: NextConfig = { typescript: { tsconfigPath: "tsconfig.next.json" } };

export default config;
