// What the reference validator says of records. Takes a file with a line of JSON for each: {"lexicon": document} names the
// schema of the records that follow, {"record": value} asks. Answers a line of JSON for each record: null if it is valid, else
// what is wrong with it, as a string.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Lexicons, jsonToLex } from '@atproto/lexicon'

let lexicons, nsid
const lines = []
for await (const line of createInterface({ input: createReadStream(process.argv[2]), crlfDelay: Infinity })) {
  const { lexicon, record } = JSON.parse(line)
  if (lexicon) {
    nsid = lexicon.id
    lexicons = new Lexicons([lexicon])
    continue
  }
  try {
    lexicons.assertValidRecord(nsid, jsonToLex(record))
    lines.push('null')
  } catch (error) {
    lines.push(JSON.stringify(String(error?.message ?? error)))
  }
}
process.stdout.write(lines.join('\n') + '\n')
