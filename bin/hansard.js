#!/usr/bin/env node
"use strict";
// CommonJS: loading the module loader would cost more than the whole rest of answering the version.
const first = process.argv[2];
if (process.argv.length === 3 && (first === "--version" || first === "-V")) {
  process.stdout.on("error", (error) => {
    if (error.code === "EPIPE") return;
    process.stderr.write(`hansard: the output cannot be written: ${error.message}\n`);
    process.exitCode = 5;
  });
  process.stdout.write(`${require("../package.json").version}\n`);
} else {
  import("../dist/cli/main.js");
}
