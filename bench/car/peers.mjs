// Measures the readers in JavaScript: `peers.mjs FILE did:key:… FOLDER`, where FOLDER has their node_modules. One JSON line
// for each, as car-peers prints them.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [file, key, folder] = process.argv.slice(2)
const bytes = new Uint8Array(readFileSync(file))
const require = createRequire(join(folder, 'package.json'))
const load = async (name) => import(pathToFileURL(require.resolve(name)))

// A letter of some record's `$type` becomes another: only a hash can tell.
const flipped = bytes.slice()
let place = Buffer.from(flipped.buffer).indexOf('e$type', flipped.length >> 1) + 9
flipped[place] ^= 1

async function measure(name, signature, read) {
  let records
  try {
    records = await read(bytes)
  } catch (error) {
    console.error(`left out: ${name} cannot read the file: ${error.message}`)
    return
  }
  const refusesFlip = await Promise.resolve(flipped).then(read).then(() => false, () => true)
  let best = Infinity
  for (const start = performance.now(); performance.now() - start < 3000; ) {
    const one = performance.now()
    await read(bytes)
    best = Math.min(best, performance.now() - one)
  }
  const mbPerSecond = bytes.length / best / 1e3
  console.log(JSON.stringify({ name, mbPerSecond, records, signature, refusesFlip }))
}

const { fromUint8Array } = await load('@atcute/repo')
await measure('@atcute/repo 1.0.2', false, async (bytes) => {
  let records = 0
  for (const entry of fromUint8Array(bytes)) records += entry.bytes.length > 0
  return records
})

const { verifyRepoCar } = await load('@atproto/repo')
await measure('@atproto/repo 0.10.14', true, async (bytes) => {
  const verified = await verifyRepoCar(bytes, undefined, key)
  return verified.creates.length
})
