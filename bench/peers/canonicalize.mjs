// Canonicalise and hash with npm's canonicalize and node:crypto: wall and CPU nanoseconds of one call.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [, , packages, file] = process.argv;
const found = createRequire(packages + "/").resolve("canonicalize");
const { default: canonicalize } = await import(pathToFileURL(found));

const value = JSON.parse(readFileSync(file, "utf8"));
const work = () => createHash("sha256").update(canonicalize(value)).digest("hex");
const median = (figures) => figures.sort((a, b) => a - b)[figures.length >> 1];

const hash = work();
let calls = 0;
// Long enough for the compiler of the engine to have done what it does.
for (const start = performance.now(); performance.now() - start < 1000; calls++) work();
const batch = Math.max(1, Math.floor(calls / 20));
const walls = [];
const cpus = [];
for (let round = 0; round < 15; round++) {
  const wall = process.hrtime.bigint();
  const cpu = process.cpuUsage();
  for (let i = 0; i < batch; i++) work();
  const used = process.cpuUsage(cpu);
  walls.push(Number(process.hrtime.bigint() - wall) / batch);
  cpus.push(((used.user + used.system) * 1000) / batch);
}
console.log(JSON.stringify({ wall: median(walls), cpu: median(cpus), hash }));
