#!/usr/bin/env node
// @ts-check
"use strict";

/* The command. CommonJS, because Node needs a third of its start time for the loader of ES modules and `process.stdout`. */
const { writeSync } = require("node:fs");

if (process.argv[2] === "--version") writeSync(1, `${require("../package.json").version}\n`);
else void import("../dist/main.js");
