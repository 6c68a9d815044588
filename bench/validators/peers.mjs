// Measures the peers in JavaScript, as rust/src/main.rs does those in Rust: `node peers.mjs FOLDER MODULES`, where
// MODULES is the folder that `run` installs them into.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, modules] = process.argv.slice(2);
const require = createRequire(join(modules, 'package.json'));
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const version = (name) => JSON.parse(readFileSync(join(modules, 'node_modules', name, 'package.json'))).version;

const text = readFileSync(join(folder, 'record.json'), 'utf8');
const docs = readdirSync(folder)
  .filter((name) => name.endsWith('.json') && name !== 'record.json')
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
const nsid = JSON.parse(text).$type;

/** Calls a second, in the best of many bursts of some 4 ms. */
function rate(call) {
  const burst = (calls) => {
    const start = performance.now();
    for (let i = 0; i < calls; i++) if (!call()) throw new Error('the record is valid');
    return performance.now() - start;
  };
  const warm = performance.now() + 500;
  while (performance.now() < warm) burst(10);
  let calls = 1;
  while (burst(calls) < 4) calls *= 2;
  const end = performance.now() + 1500;
  let best = Infinity;
  while (performance.now() < end) best = Math.min(best, burst(calls));
  return Math.round((calls / best) * 1000);
}

const report = (name, value, isValid) =>
  console.log(
    JSON.stringify({ name, validate: rate(() => isValid(value)), parseAndValidate: rate(() => isValid(parse[name](text))) }),
  );
const parse = {};

{
  const { RecordValidator } = await load('@atcute/lexicon-doc/validations');
  const validator = new RecordValidator(Object.fromEntries(docs.map((doc) => [doc.id, doc])), nsid);
  const name = `@atcute/lexicon-doc ${version('@atcute/lexicon-doc')}`;
  parse[name] = JSON.parse;
  report(name, JSON.parse(text), (object) => validator.try({ key: '3jzfcijpj2z2a', object }).ok);
}
{
  const { Lexicons, jsonToLex } = await load('@atproto/lexicon');
  const lexicons = new Lexicons(docs);
  const name = `@atproto/lexicon ${version('@atproto/lexicon')}`;
  parse[name] = (json) => jsonToLex(JSON.parse(json));
  report(name, jsonToLex(JSON.parse(text)), (value) => lexicons.validate(nsid, value).success);
}
